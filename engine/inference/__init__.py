"""Turns text into vectors: tokens, passages, the vertical schedule, readouts and the encoder."""
