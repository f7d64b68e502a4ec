"""`sifaka demo`: an announcement full of mistakes, improved by rules alone."""

import argparse
from pathlib import Path

from sifaka_mcp.cli import improve
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import say
from sifaka_mcp.cli.session import Ending, Session

TEXT = Path(__file__).with_name("announcement.md")
_RULES = ("--max-words", "330", "--forbid", "world-class=reliable", "--model", "editor")


def _as_improve(parser: argparse.ArgumentParser) -> None:
    """Take the options of `sifaka improve`, for its own text and rules."""
    asked = argparse.ArgumentParser()
    opt.add_all(asked, improve.ARGUMENTS)
    parser.set_defaults(**vars(asked.parse_args([str(TEXT), *_RULES])))


ARGUMENTS = (_as_improve,)


async def run(session: Session) -> Ending:
    """Improve the text and print each change with its reason; 0 when the demonstration ran.

    What is left for a writer makes it no failure.
    """
    end = await improve.run(session)

    def tell_what_is_next() -> int:
        end()
        say("that was rules alone; next: sifaka improve FILE")
        return 0

    return tell_what_is_next
