"""Data that ships with longsearch: the bundled model."""
