"""SIGHT: the terminal app. Knows nothing of models, vectors or SQLite."""

import os

os.environ.setdefault("ESCDELAY", "50")
"""Milliseconds after which Esc is Esc, and not the start of a key's sequence: Textual, which reads it, waits 100."""
