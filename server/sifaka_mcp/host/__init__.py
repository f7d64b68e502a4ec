"""The model of the host, asked by MCP sampling in both eras of the protocol."""
