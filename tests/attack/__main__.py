"""`python -m tests.attack [--seconds 30]`: a hostile tenant beside a modest one, as a table.

A real HTTP server with tokens for two tenants. `mallory` fires what is expensive, several requests
of each kind at a time: patterns, schemas and texts. Meanwhile `/healthz` and a one-line
`validate_text` of `alice` are timed. It exits with 1 when the 99th percentile is above `HEALTH` or
`MODEST` seconds, or when one of the hostile connections of `edge` that come first is not refused.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import anyio

from tests.attack.edge import edges
from tests.attack.isolation import attack


def main() -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("--seconds", type=float, default=30, help="for which each kind is fired")
    options = parser.parse_args()
    return anyio.run(_report, options.seconds)


async def _report(seconds: float) -> int:
    held = True
    with tempfile.TemporaryDirectory() as home:
        async for edge in edges(Path(home)):
            sys.stdout.write(f"{edge}\n")
            held = held and edge.held
    with tempfile.TemporaryDirectory() as home:
        async for row in attack(Path(home), seconds):
            sys.stdout.write(f"{row}\n")
            held = held and row.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
