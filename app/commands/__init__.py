"""One command of the command line a file; each has `run(options) -> exit code`."""
