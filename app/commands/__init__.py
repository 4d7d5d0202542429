"""The commands of the command line, one module each: `HELP`, `add_options(parser)` and `run(options) -> exit code`.

The command line imports all of them to know their options. They therefore import at the top only what loads in
milliseconds; torch, textual, apsw and the modules that need them are imported inside the functions that use them.
"""
