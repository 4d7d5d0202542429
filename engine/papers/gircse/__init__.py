"""GIRCSE (Tsai et al., arXiv 2509.24291): a model reads on in soft tokens of its own, and their mean is the vector."""
