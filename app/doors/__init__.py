"""The commands by which newcomers, agents, shells and editors come in; see `COMMANDS` in `app.cli`."""
