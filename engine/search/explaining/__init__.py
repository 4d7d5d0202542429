"""Says why a hit has its score: the same sums as in `retrieval`, taken apart."""
