"""SIGHT: the terminal app. Knows nothing of models, vectors or SQLite."""
