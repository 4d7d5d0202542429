"""FRESHNESS: keeps the index in step with the files on the disk."""
