"""Measures retrieval: scores longsearch and baselines on sets with relevance judgements, with confidence intervals."""
