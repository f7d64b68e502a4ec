"""Starts the server from an unpacked bundle."""

import os

from sifaka_mcp.cli import serve_main

if __name__ == "__main__":
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        # A field that was left empty arrives as an empty variable, which providers take for a key.
        if not os.environ[name]:
            del os.environ[name]
    serve_main()
