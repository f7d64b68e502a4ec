"""A run as a page: for MCP Apps, for browsers, and as one file."""
