"""`python -m tests.attack [--soak 5] [--seconds 30] [--points 50] [--only edge,soak]`: one table.

Each row tells what was fired, what must hold, and what was measured. It exits with 1 when a row
has fallen. The parts:

- `edge`: hostile connections to a server with tokens.
- `isolation`: one tenant fires expensive patterns, schemas and texts, `--seconds` of each kind,
  while `/healthz` and a one-line `validate_text` of another tenant are timed.
- `growth`: 20,000, 40,000 and 80,000 characters of each hostile kind at every validator,
  classifier, keyless critic and reader; `--of` names some of them.
- `points`: the attacks that tests make, from SIGTERM to forgotten texts.
- `kills`: processes killed at every append and at `--points` random moments, and under load.
- `forgetting`: 5,000 runs in each store on disk, and Redis.
- `soak`: `--soak` minutes of load on one server.
"""

import argparse
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import anyio
import anyio.to_thread

from tests.attack.edge import edges
from tests.attack.forgotten import forgotten
from tests.attack.growth import growth
from tests.attack.isolation import attack
from tests.attack.kills import kills
from tests.attack.points import points
from tests.attack.soak import soak
from tests.attack.table import HEAD, Row

Part = Callable[[Path, argparse.Namespace], AsyncGenerator[Row]]


async def _each(rows: Iterator[Row]) -> AsyncGenerator[Row]:
    while (row := await anyio.to_thread.run_sync(next, rows, None)) is not None:
        yield row


PARTS: dict[str, Part] = {
    "edge": lambda home, _: edges(home),
    "isolation": lambda home, options: attack(home, options.seconds),
    "growth": lambda _, options: _each(growth(options.of)),
    "points": lambda home, _: _each(points(home)),
    "kills": lambda _, options: _each(kills(options.points)),
    "forgetting": lambda _, __: _each(forgotten()),
    "soak": lambda home, options: soak(home, options.soak),
}


def main() -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("--seconds", type=float, default=30, help="for which each kind is fired")
    parser.add_argument("--soak", type=float, default=5, help="minutes of load")
    parser.add_argument("--points", type=int, default=50, help="random moments for kills")
    parser.add_argument("--of", default="", help="words in the names of what is to grow")
    parser.add_argument("--only", default=",".join(PARTS), help="the parts, by commas")
    options = parser.parse_args()
    chosen: list[str] = options.only.split(",")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no parts: {', '.join(sorted(unknown))}")
    sys.stdout.write(f"{HEAD}\n")
    sys.stdout.flush()
    # A loop for each part: some start loops and processes of their own.
    fell = sum([_run(PARTS[name], options) for name in chosen])
    sys.stdout.write(f"{fell} fell\n")
    return 1 if fell else 0


def _run(part: Part, options: argparse.Namespace) -> int:
    async def tell(home: Path) -> int:
        fell = 0
        async for row in part(home, options):
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
            fell += not row.held
        return fell

    with tempfile.TemporaryDirectory() as home:
        return anyio.run(tell, Path(home))


if __name__ == "__main__":
    sys.exit(main())
