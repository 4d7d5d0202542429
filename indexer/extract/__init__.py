"""Extracts the text of files, with a module for each format, in a child process that can be killed."""
