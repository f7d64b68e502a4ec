"""`python -m sifaka_mcp` serves, like `sifaka-mcp`."""

from sifaka_mcp.cli import serve_main

if __name__ == "__main__":
    serve_main()
