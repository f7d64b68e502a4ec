"""`sifaka completion`: what a shell needs to complete the commands, their options and files."""

import argparse
from collections.abc import Iterator
from typing import Any, cast

from sifaka.extras import require
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_lines
from sifaka_mcp.cli.session import Session

_SHELLS = ("bash", "zsh", "fish")
_FILES = frozenset({"FILE", "PATH", "FOLDER"})
"""The names of arguments that are files."""


ARGUMENTS = (opt.argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS)),)


def run(session: Session) -> int:
    """Print the shell's functions, to be read at its start."""
    require("completion", "cli", "shtab")
    import shtab

    from sifaka_mcp.cli import full_parser

    parser = full_parser()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue] # where shtab looks for it
    print_lines([shtab.complete(parser, session.options.shell)])
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001 - argparse tells them nowhere else
        yield action
        choices: Any = action.choices
        if isinstance(choices, dict):
            commands = cast("dict[str, argparse.ArgumentParser]", choices)
            for command in commands.values():
                yield from _actions(command)
