"""Where documents, words and vectors are kept: one SQLite file for each root."""
