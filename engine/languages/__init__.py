"""Finds the language of a text, and the form of its words in the word index. Pure; knows no index and no model."""
