"""Lets agents search and read, and change nothing: tools, addresses of documents, budgets, and the MCP server."""
