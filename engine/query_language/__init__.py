"""THE QUERY LANGUAGE: text in, terms, filters and order out. Pure: knows no index."""
