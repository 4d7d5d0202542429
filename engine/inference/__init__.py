"""From text to vectors: tokens, passages, the vertical schedule, readouts and the encoder."""
