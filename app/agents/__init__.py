"""AGENTS: lets agents search and read, and change nothing: tools, addresses, budgets, and the MCP server."""
