"""Configurations and weights of every family of recurrent models, and the operations they share."""
