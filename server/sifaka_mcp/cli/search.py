"""`sifaka search`: find past texts."""

import argparse

from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.history import history


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "query",
        metavar="QUERY",
        type=_words,
        help="words, and filters: tag:x passed:true since:7d until:DATE",
    )
    opt.add_limit(parser, 10)
    opt.add_json(parser)
    parser.set_defaults(run=history, run_id="", cursor="", text=False, follow=False)


def _words(value: str) -> str:
    if not value.strip():
        raise argparse.ArgumentTypeError("there is nothing to search for")
    return value
