"""The commands `sifaka` and `sifaka-mcp`."""

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from server.settings import Settings, load_settings
from sifaka.errors import ConfigurationError, SifakaError, ThoughtNotFound

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "serve": "serve the tools over MCP",
        "improve": "improve a text",
        "validate": "check a text",
        "critique": "find what is wrong with a text",
        "history": "show a run, or list the recent ones",
        "search": "find past texts",
        "resume": "go on with a run that was interrupted",
        "doctor": "show what is configured and whether it works",
    }
)
"""Each is the module of its name; it is imported when it is called."""

DONE, NOT_PASSING, USAGE = 0, 1, 2
"""Exit codes: done and passing, done but not passing, wrong usage or configuration."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def serve_main() -> NoReturn:
    """Run `sifaka serve` with this process's arguments and exit."""
    main(["serve", *sys.argv[1:]])


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done and passing, 1 done but not passing, 2 usage or configuration.
    """
    options = _parser(arguments).parse_args(arguments)
    try:
        settings = load_settings(os.environ, _flags(options), folder=Path.cwd())
        logging.basicConfig(level=settings.log_level, stream=sys.stderr)
        return options.run(options, settings)
    except (ConfigurationError, ThoughtNotFound) as error:
        return _complain(error, USAGE)
    except SifakaError as error:
        return _complain(error, NOT_PASSING)
    except BrokenPipeError:
        # The reader of our output has left; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return 130


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sifaka", description="Check, criticise and improve texts, and remember every version."
    )
    parser.add_argument("--version", action="version", version=version("sifaka-mcp"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        command.add_argument("--store", help="where runs are kept, such as sqlite:///path")
        command.add_argument("--tenant", help="whose runs they are")
        command.add_argument("--log-level", help="DEBUG, INFO, WARNING or ERROR")
        # Only the command that is called needs its options, and its imports.
        if name in arguments[:1]:
            importlib.import_module(f"server.cli.{name}").configure(command)
    return parser


def _flags(options: argparse.Namespace) -> dict[str, object]:
    return {n: getattr(options, n) for n in Settings.model_fields if hasattr(options, n)}


def _complain(error: SifakaError, code: int) -> int:
    print(f"sifaka: {error}", file=sys.stderr)
    return code
