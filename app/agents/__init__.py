"""What agents may ask of the indexes, read-only: tools, addresses of documents, budgets, and the MCP server."""
