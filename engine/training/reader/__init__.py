"""TRAINS THE READER: a small model that reads a passage with a query: which sentence answers, and whether any does.

`preparing` and `negatives` turn questions with answer spans into flat arrays, `library` holds and `sampling` draws from
them, `model` has the designs, `training` the loop, `examining` the held-out measures. `engine.reader` needs no torch.
"""
