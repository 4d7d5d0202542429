"""DAEMON: the process that watches folders, indexes them and encodes queries, and how others start and ask it."""
