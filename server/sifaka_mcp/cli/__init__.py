"""The commands `sifaka` and `sifaka-mcp`."""

import argparse
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from sifaka._internal.naming import closest
from sifaka.errors import ConfigurationError, PluginError, SifakaError, ThoughtNotFound
from sifaka_mcp.cli.process import (
    INTERRUPTED,
    TERMINATED,
    Terminated,
    prepare_streams,
    printing,
    say,
)
from sifaka_mcp.garbage_collection import collect_seldom, loading
from sifaka_mcp.safe_text import flat, one_line

if TYPE_CHECKING:
    from sifaka_mcp.cli.options import Command
    from sifaka_mcp.settings import Settings

COMMANDS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "serve": ("serve", "serve the tools over MCP", "--transport http --port 8000"),
        "worker": ("serve", "work on the runs that servers have queued in Redis", ""),
        "demo": ("improve", "improve a text full of mistakes, to see what is done", ""),
        "improve": ("improve", "improve a text", "letter.md --max-words 120 --prompt 'friendlier'"),
        "validate": ("judge", "check a text", "letter.md --max-words 120 --require refund"),
        "check": ("check", "find the mistakes in files, as a linter does", "docs README.md --fix"),
        "lsp": ("serve", "show the same in an editor, over the Language Server Protocol", ""),
        "critique": ("judge", "find what is wrong with a text", "letter.md --critics lint,style"),
        "verify": (
            "evidence",
            "hold the claims of a text against sources",
            "notes.md --source report.txt",
        ),
        "search-evidence": (
            "evidence",
            "find documents that help with a question, and judge each",
            "'when was it built?' --adapters notes=folder:notes",
        ),
        "research": (
            "evidence",
            "answer a question from sources",
            "'when was it built?' --adapters wikipedia:en",
        ),
        "history": ("runs", "show a run, or list the recent ones", "--limit 5"),
        "view": ("runs", "show a run as a page, in the browser or as one file", "--html run.html"),
        "search": ("runs", "find past texts", "'refund since:7d'"),
        "submit": ("runs", "hand in a version for a run that waits for one", "RUN letter.md"),
        "resume": ("runs", "go on with a run that was interrupted", "RUN --out letter.md"),
        "replay": ("runs", "go through a finished run again, without any model", "RUN"),
        "forget": ("runs", "delete or move old runs", "--older-than 90d --yes"),
        "token": ("grants", "make a token for the HTTP server", "alice --expires 90d"),
        "trust": (
            "grants",
            "let the sifaka.toml of a folder set more than how texts are checked",
            ".",
        ),
        "install": ("install", "write the server into the configuration of a host", "cursor"),
        "doctor": (
            "doctor",
            "show what is configured and whether it works",
            "--model openai:gpt-5",
        ),
    }
)
"""Of each the module, which is imported when it is called, what it is for, and an example.

In the module it is the `Command` of its name, with `_` for `-`.
"""

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
        The exit code: 0 done and passing, 1 done but not passing, 2 usage or configuration, and
        128 and the signal's number when a signal ended it.

    Raises:
        SystemExit: The arguments are wrong or ask for help; it carries the code.
    """
    prepare_streams()
    collect_seldom()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # what libraries warn of is for those who program with them
    try:
        with loading():
            options = _parse_options(arguments)
            # Not before the arguments are read: `--help` needs none of it.
            from sifaka_mcp.logs import configure

            settings = _read_settings(options)
            configure(settings.log_level, as_json=settings.log_format == "json")
            from sifaka_mcp.cli.session import Session

        return Session(options, settings).run(options.work)
    except SifakaError as error:
        say(str(error))
        return (
            USAGE
            if isinstance(error, ConfigurationError | PluginError | ThoughtNotFound)
            else NOT_PASSING
        )
    except KeyboardInterrupt as signalled:
        return TERMINATED if isinstance(signalled, Terminated) else INTERRUPTED


def _parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    parser, command = parser_for(arguments)
    try:
        options, unknown = parser.parse_known_args(arguments)
        if unknown:
            first = next((each for each in unknown if each.startswith("--")), "").partition("=")[0]
            similar = _suggest_word(first, re.findall(r"--[a-z][a-z-]*", command.format_help()))
            command.error(f"unrecognized arguments: {' '.join(unknown)}{similar}")
        return options
    except SystemExit:
        with printing():  # the help or the version
            pass
        raise


def _read_settings(options: argparse.Namespace) -> "Settings":
    from sifaka_mcp.settings import config_folder
    from sifaka_mcp.settings.sources import load_settings, read_project, unknown_names

    try:
        folder = Path.cwd()
    except FileNotFoundError as error:
        raise ConfigurationError(
            "the current folder does not exist any more", "change to another one"
        ) from error
    config = config_folder("sifaka")
    # `sifaka trust` reports on a file itself, and has to work where one is wrong.
    project = None if options.command == "trust" else read_project(folder, config)
    # `sifaka check` reads the file too, and fails with what is wrong with it.
    if project and project.note and (project.refused or options.command != "check"):
        say(flat(project.note))
    # `sifaka doctor` reports all that is wrong.
    options.wrong = list[str]() if options.command == "doctor" else None
    for line in unknown_names(os.environ) if options.wrong is None else ():
        say(line)
    return load_settings(
        os.environ, vars(options), project=project, config=config, wrong=options.wrong
    )


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if wrong := _CHOICE.search(message):
            message += _suggest_word(wrong[1], re.findall(r"[\w-]+", wrong[2]))
        self.exit(USAGE, f"sifaka: {one_line(message)} — see `{self.prog} --help`\n")


def _suggest_word(unknown: str, allowed: Iterable[str]) -> str:
    """The allowed word that an unknown one resembles, as a question; empty where there is none."""
    similar = closest(unknown, allowed)
    return "" if similar is None else f"; did you mean {similar}?"


def parser_for(arguments: Sequence[str]) -> tuple[_Parser, argparse.ArgumentParser]:
    """The parser, and that of the command which is called."""
    parser = _Parser(
        prog="sifaka",
        description="Check, criticise and improve texts, and remember every version.",
        allow_abbrev=False,
    )
    number = ""
    if "--version" in arguments[:1]:  # it is looked up only for that
        from importlib.metadata import version

        number = version("sifaka-mcp")
    parser.add_argument("--version", action="version", version=number)
    called: argparse.ArgumentParser = parser
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, (module_name, summary, example) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example: sifaka {name} {example}".rstrip(),
            allow_abbrev=False,
        )
        command.add_argument("--store", help="where runs are kept, such as sqlite:///path")
        command.add_argument("--tenant", help="the tenant of the runs")
        command.add_argument("--log-level", help="DEBUG, INFO, WARNING or ERROR")
        # Only the command that is called needs its options, and its imports.
        if name in arguments[:1]:
            from sifaka_mcp.cli.options import add_all

            called = command
            module = importlib.import_module(f"{__name__}.{module_name}")
            definition: Command[Any] = getattr(module, name.replace("-", "_"))
            add_all(command, definition.arguments)
            command.set_defaults(work=definition.work)
    return parser, called
