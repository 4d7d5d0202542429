"""READOUTS: how a pass over a text becomes vectors: chunks, borders of passages, saved states, and the readout `mean`.

`engine.papers` has the other readouts.
"""
