"""The screens, one in each module."""
