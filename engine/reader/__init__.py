"""THE READER: reads a query and the best passages once more, and says which sentence answers, and whether any does.

`reading` is what a search asks, `layers` three layers of BERT in numpy, `scoring` the late interaction. The weights
come from `engine.training.reader`. Their file has no table of token vectors: the table is the bundled model's.
"""
