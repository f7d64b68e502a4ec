"""The server over Streamable HTTP."""
