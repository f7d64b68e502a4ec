"""`sifaka search`: find past texts."""

import argparse

from server.cli import options as opt
from server.cli.history import history


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--limit", type=int, default=10, metavar="N")
    opt.add_json(parser)
    parser.set_defaults(run=history, run_id="", cursor="", text=False)
