"""Text of files, a module for each format, read in a child process that may be killed."""
