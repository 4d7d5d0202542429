"""The commands by which newcomers, agents, shells and editors come in; see `DOORS` in `app.cli`."""
