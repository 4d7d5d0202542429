"""The commands by which other programs and newcomers come in: `mcp`, `demo`, `man`, `open-hit`."""
