"""FRESHNESS: the index says what the disk says."""
