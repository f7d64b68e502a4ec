"""The stores of the server: opened by URL, reached through other MCP servers, or only read."""
