"""The configuration of readouts, and weights of those that are models: a bidirectional encoder, soft tokens."""
