"""`sifaka improve`: a text, better."""

import argparse
import sys
from functools import partial
from pathlib import Path

from sifaka.chain import RunResult
from sifaka.chain.lessons import MOST_REMEMBERED
from sifaka.errors import ConfigurationError
from sifaka.models import CALLER
from sifaka.record.entries import Fixes
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import (
    TextFile,
    read_text_file,
    write_beside,
    write_text_file,
)
from sifaka_mcp.cli.output import STDIO
from sifaka_mcp.cli.review import review, terminal
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.safe_text import visible

ARGUMENTS = (
    opt.TEXT,
    opt.FORMAT,
    *opt.RULES,
    *opt.JUDGES,
    opt.BUDGET,
    opt.JSON,
    opt.argument("--effort", choices=["quick", "standard", "thorough"], default="standard"),
    opt.argument(
        "--policy",
        choices=["best", "judged", "best_of_n", "last"],
        help="how versions are selected; the effort's when left out",
    ),
    opt.TAGS,
    opt.argument(
        "--remember",
        type=opt.whole_number(0, MOST_REMEMBERED),
        default=0,
        metavar="N",
        help="tell the writer the lessons of N similar past runs",
    ),
    opt.argument(
        "--facts",
        choices=["ask", "require", "off"],
        default="ask",
        help="what becomes of figures, names and the like that differ from the input: they are "
        "asked about, refused, or not compared",
    ),
    opt.either(
        opt.argument("--suggestions", action="store_true", help="make the suggested fixes as well"),
        opt.argument(
            "--review", action="store_true", help="decide on each suggested fix at the terminal"
        ),
    ),
    opt.argument(
        "--require-judge", action="store_true", help="fail where nobody judged the meaning"
    ),
    opt.either(
        opt.argument("--out", metavar="FILE", help="write the text there; - is standard output"),
        opt.argument("--in-place", action="store_true", help="write the text back"),
    ),
)


async def run(session: Session) -> Ending:
    """Improve the text, print what was done, and write the text where it was asked for."""
    options = session.options
    if options.in_place and options.file == STDIO:
        raise ConfigurationError("--in-place needs a file", "use --out FILE with standard input")
    target = options.file if options.in_place else options.out
    if target == STDIO and options.json:
        raise ConfigurationError("--json and --out - want the same output", "choose one of them")
    # A filter's output is its text alone.
    filters = not options.json and STDIO in {target, target or options.file}
    session.aim_at(None if filters else target)
    if options.review:
        with terminal():  # before any work is done in vain
            pass
        session.settings = session.settings.model_copy(update={"model": CALLER})
    file = _read(options.file) if options.in_place else None
    text = file.text if file else opt.read_text(options.file)
    chain = await session.chain(
        budget=opt.budget_of(options),
        effort=options.effort,
        policy=options.policy,
        tags=options.tag,
        remember=options.remember,
        fixes=_fixes(options),
        format=opt.format_of(options, text),
        facts=options.facts,
        own_review=False if options.review else None,  # the person is reading it
    )
    result = await session.begin(chain, options.prompt, text)
    if options.review:
        result = await review(chain, result)
    return partial(_finish, session, result, file, filters=filters)


def _finish(session: Session, result: RunResult, file: TextFile | None, *, filters: bool) -> int:
    written = True
    if file:
        session.target = None
        written = not result.changed or write_back(file, result.text)
    judged = session.options.require_judge
    code = session.finish(result, show_text=not file, filters=filters, judged=judged)()
    return code if written else 1


def _fixes(options: argparse.Namespace) -> Fixes:
    """The editor's fixes: a person who decides on the suggested ones has the safe ones made."""
    return "suggested" if options.suggestions else "safe" if options.review else "auto"


def _read(name: str) -> TextFile:
    try:
        return read_text_file(Path(name))
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error.message}", error.suggestion) from error


def write_back(file: TextFile, text: str) -> bool:
    """Write a text into its file; beside it, and False, when the file is not what was read."""
    try:
        write_text_file(file, text)
    except ConfigurationError as error:
        beside = write_beside(file, text)
        told = f"{file.path}: {error.message}; the text is in {beside}"
        print(visible(told), file=sys.stderr)
        return False
    return True
