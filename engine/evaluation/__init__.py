"""The ruler: retrieval sets with judgements in, figures with their uncertainty out, baselines in the same run."""
