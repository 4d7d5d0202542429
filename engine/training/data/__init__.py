"""Training data: pairs, long texts, shards of teacher vectors, vocabulary and batches."""
