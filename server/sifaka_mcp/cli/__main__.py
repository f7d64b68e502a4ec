"""`python -m sifaka_mcp.cli` is the command `sifaka`."""

from sifaka_mcp.cli import main

if __name__ == "__main__":
    main()
