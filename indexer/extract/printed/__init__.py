"""PRINTED: draws a page of a PDF as it is printed, and finds where on it a passage stands."""
