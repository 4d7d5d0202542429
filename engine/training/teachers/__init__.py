"""Prepares a multilingual teacher: unpacks it, cuts its vocabulary, and centres its vectors."""
