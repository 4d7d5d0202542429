"""The child process and the messages between it and its parent."""
