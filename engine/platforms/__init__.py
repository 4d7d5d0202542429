"""Everything that differs by platform, a module for each: processes, job objects, pipes, local sockets, buffers.

Each function takes the platform as an argument, so that its tests run the twin for Windows elsewhere too. Nobody has
run that twin on Windows yet. Locks are `filelock`'s, folders `platformdirs`'; services are in `app.daemon.service`,
viewers in `app.viewing`.
"""
