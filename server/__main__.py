"""`python -m server` serves, like `sifaka-mcp`."""

from server.cli import serve_main

if __name__ == "__main__":
    serve_main()
