"""QUOTATIONS: finds the place of a quotation, verbatim or nearly so."""
