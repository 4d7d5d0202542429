"""ANSWERING: what an engine must answer for an index to be searched, and how SQLite does it.

`engine.lance` has the second implementation.
"""
