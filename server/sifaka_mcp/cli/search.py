"""`sifaka search`: find past texts."""

import argparse

from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.history import run as run


def _words(value: str) -> str:
    if not value.strip():
        raise argparse.ArgumentTypeError("there is nothing to search for")
    return value


ARGUMENTS = (
    opt.argument(
        "query",
        metavar="QUERY",
        type=_words,
        help="words, and filters: tag:x passed:true since:7d until:DATE",
    ),
    opt.limit(10),
    opt.JSON,
    opt.fixed(run_id="", cursor="", text=False, follow=False),
)
