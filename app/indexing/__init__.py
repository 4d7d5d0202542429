"""INDEXING: the one recipe that brings the index of a folder in step with the disk, whoever asks for it."""
