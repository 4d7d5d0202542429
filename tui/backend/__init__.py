"""Calls of the backend: requests, worker threads, and the messages that carry the answers."""
