"""Turns text into vectors: token stream, vertical schedule, readouts, encoder."""

from engine.inference.encoder import Encoder

__all__ = ["Encoder"]
