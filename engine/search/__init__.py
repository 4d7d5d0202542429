"""Turns a query into ranked documents and their best passages."""
