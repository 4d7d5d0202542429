"""Training data: pairs, long texts, shards with the teacher's vectors, and batches."""
