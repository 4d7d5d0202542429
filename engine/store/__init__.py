"""Stores documents, words and vectors: one SQLite file per root."""
