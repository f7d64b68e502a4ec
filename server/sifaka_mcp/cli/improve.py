"""`sifaka improve`: a text, better; `sifaka demo`: one full of mistakes, to see what is done."""

import argparse
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from anyio import to_thread

from sifaka.chain.lessons import MOST_REMEMBERED
from sifaka.editor import apply, lint
from sifaka.errors import ConfigurationError
from sifaka.models import CALLER
from sifaka.record.results import Issue
from sifaka.record.rule_choice import RuleChoice
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import TextFile, read_text_file, write_text_file
from sifaka_mcp.cli.process import STDIO, say
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.safe_text import visible
from sifaka_mcp.settings.project_rules import rules_for
from sifaka_mcp.view.console import Console, Text

if TYPE_CHECKING:
    from sifaka.chain import Chain, RunResult

TEXT = Path(__file__).with_name("announcement.md")
_RULES = ("--max-words", "330", "--forbid", "world-class=reliable", "--model", "editor")
KEYS = "y: yes, n: no, a: all of this kind, q: leave the rest"
DECLINED = "left as it is in a review at the terminal"
"""The reason on record for what was not accepted."""
_AROUND = 120
"""Characters shown on either side of a change, at most."""
_ENDS = ".!?\n"

Ask = Callable[[], str]
"""Waits for a line; empty when there will be none."""


@opt.command(
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
        opt.argument(
            "--suggestions",
            dest="fixes",
            action="store_const",
            const="suggested",
            default="auto",
            help="make the suggested fixes as well",
        ),
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
async def improve(session: Session) -> Ending:
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
    file = _read_file(options.file) if options.in_place else None
    text = file.text if file else opt.read_text(options.file)
    chain = await session.chain(
        budget=opt.budget_of(options),
        effort=options.effort,
        policy=options.policy,
        tags=options.tag,
        remember=options.remember,
        # A person who decides on the suggested fixes has the safe ones made.
        fixes="safe" if options.review else options.fixes,
        format=opt.format_of(options, text),
        lint_rules=rules_for(Path(options.file)),
        facts=options.facts,
        own_review=False if options.review else None,  # the person is reading it
    )
    result = await session.begin(chain, options.prompt, text)
    if options.review:
        result = await review(chain, result)
    return partial(_finish, session, result, file, filters=filters)


def _finish(session: Session, result: "RunResult", file: TextFile | None, *, filters: bool) -> int:
    written = True
    if file:
        session.target = None
        try:
            if result.changed:
                write_text_file(file, result.text)
        except ConfigurationError as error:
            print(visible(f"{file.path}: {error.message}"), file=sys.stderr)
            written = False
    code = session.finish(
        result,
        show_text=not (file and written),
        filters=filters,
        judged=session.options.require_judge,
    )()
    return code if written else 1


def _read_file(name: str) -> TextFile:
    try:
        return read_text_file(Path(name))
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error.message}", error.suggestion) from error


def _take_options(parser: argparse.ArgumentParser) -> None:
    """Take the options of `sifaka improve`, for its own text and rules."""
    other = argparse.ArgumentParser()
    opt.add_all(other, improve.arguments)
    parser.set_defaults(**vars(other.parse_args([str(TEXT), *_RULES])))


@opt.command(
    _take_options,
)
async def demo(session: Session) -> Ending:
    """Improve the text and print each change with its reason; 0 when the demonstration ran.

    What is left for a writer makes it no failure.
    """
    return partial(_tell_what_is_next, await improve.work(session))


def _tell_what_is_next(end: Ending) -> int:
    end()
    say("that was rules alone; next: sifaka improve FILE")
    return 0


def suggested_fixes(text: str, rules: RuleChoice | None = None) -> Sequence[Issue]:
    """The suggestions of the editor's rules that have one fix, in text order."""
    return [
        issue
        for issue in lint(text, rules=rules).issues
        if issue.fix is not None
        and not issue.safe
        and apply(text, [issue], fixes="suggested").edits
    ]


def accepted_fixes(
    text: str, fixes: Sequence[Issue], ask: Ask, console: Console
) -> Sequence[Issue]:
    """The fixes that the person accepts, until the last one or `q`.

    Args:
        text: The text.
        fixes: The fixes to decide on.
        ask: Waits for a line.
        console: Shows the questions.
    """
    accepted: list[Issue] = []
    kinds = set[str | None]()
    for number, issue in enumerate(fixes, 1):
        key = "y"
        if issue.rule not in kinds:
            console.print(_format_question(text, issue, f"{number}/{len(fixes)}"))
            key = _read_decision(ask, console)
        if key == "q":
            break
        if key == "a":
            kinds.add(issue.rule)
        if key != "n":
            accepted.append(issue)
    return accepted


async def review(chain: "Chain", result: "RunResult") -> "RunResult":
    """The run after the person's version, which has the accepted fixes.

    What was not accepted is declined. A text that has no suggested fix stays as it is.

    Raises:
        ConfigurationError: There is no terminal to ask at.
    """
    brief = result.brief
    fixes = await to_thread.run_sync(suggested_fixes, result.text, chain.config.lint_rules)
    if brief is None or not fixes:
        return result
    with terminal() as keyboard:
        console = Console(file=sys.stderr, highlight=False)
        accepted = await to_thread.run_sync(
            accepted_fixes, result.text, fixes, keyboard.readline, console, abandon_on_cancel=True
        )
    edited = apply(result.text, accepted, fixes="suggested")
    return await chain.submit(result.run_id, brief.parent_id, edited.text, reason=DECLINED)


@contextmanager
def terminal() -> Generator[TextIO]:
    """The keyboard: standard input, or the terminal of the process where that is a pipe.

    Raises:
        ConfigurationError: There is none.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        yield sys.stdin
        return
    try:
        keyboard = Path("/dev/tty").open(encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConfigurationError(
            "--review asks at a terminal, and there is none",
            "run it in a terminal, or apply every suggestion with --suggestions",
        ) from error
    with keyboard:
        yield keyboard


def _read_decision(ask: Ask, console: Console) -> str:
    while line := ask():
        key = line.strip().lower()
        if key in {"y", "n", "a", "q"}:
            return key
        console.print(KEYS, style="dim")
    return "q"


def _format_question(text: str, issue: Issue, number: str) -> Text:
    """The sentence with the change in it, and the keys."""
    start, end = issue.start or 0, issue.end or 0
    first = max(start - _AROUND, *(text.rfind(mark, 0, start) + 1 for mark in _ENDS))
    ends = (text.find(mark, end) + 1 for mark in _ENDS)
    last = min(end + _AROUND, *(each for each in ends if each))
    return Text.assemble(
        (f"{number} {issue.rule}: {visible(issue.message)}\n", "bold"),
        f"  {_join_lines(text[first:start]).lstrip()}",
        (f"[-{_join_lines(text[start:end])}-]", "red"),
        (f"{{+{_join_lines(issue.fix or '')}+}}", "green"),
        _join_lines(text[end:last]).rstrip(),
        (f"\n  {KEYS}", "dim"),
    )


def _join_lines(text: str) -> str:
    return visible(text.replace("\r", "").replace("\n", " "))
