"""Recurrent models: the configuration and weights of each family, and the operations they share."""
