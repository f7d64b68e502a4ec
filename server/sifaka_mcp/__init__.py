"""The MCP server and the command line around the Sifaka library."""
