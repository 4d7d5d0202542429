"""CAUSAL2VEC (Lin et al., arXiv 2507.23386): a text in one token, which is read before the text itself."""
