"""The types that all packages share, as frozen dataclasses: documents, results of searches, progress of indexing."""
