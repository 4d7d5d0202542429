"""Tests, in the folders of what they test. A helper is imported by its whole name: `from tests.app.homes import …`."""
