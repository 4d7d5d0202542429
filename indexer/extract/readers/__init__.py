"""A module for each format other than PDF, and the modules that they share."""
