"""`python -m server.cli` is the command `sifaka`."""

from server.cli import main

if __name__ == "__main__":
    main()
