"""MODELS: which model reads which folder, and the model that a process holds in memory for documents and queries."""
