"""The daemon: watches folders, indexes them, and turns queries into vectors for other processes."""
