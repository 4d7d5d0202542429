"""COMMANDS: a module for each command of the command line, with `HELP`, `OPTIONS` and `run(options)`.

`OPTIONS` are data (`app.options`), of which `app.cli` makes a parser; some commands have an `EPILOG`, which ends their
`--help`. `run` returns the exit code. The other modules are what several commands share: questions to the person,
results and records.

`longsearch --help` imports all of them to know their options, in 80 ms of processor time. They therefore import at the
top only what loads in a millisecond or two. torch, textual and apsw, but also `app.paths`, `engine.types`,
`dataclasses` and `logging`, are imported inside the functions that use them, or under TYPE_CHECKING.
"""
