"""`sifaka improve --review`: a person decides on each suggested fix, at the terminal."""

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from anyio import to_thread

from sifaka.editor import apply, lint
from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue
from sifaka_mcp.safe_text import visible
from sifaka_mcp.view.console import Console, Text

if TYPE_CHECKING:
    from sifaka.chain import Chain, RunResult

KEYS = "y: yes, n: no, a: all of this kind, q: leave the rest"
DECLINED = "left as it is in a review at the terminal"
"""The reason on record for what was not accepted."""
_AROUND = 120
"""Characters shown on either side of a change, at most."""
_ENDS = ".!?\n"

Ask = Callable[[], str]
"""Waits for a line; empty when there will be none."""


def suggested_fixes(text: str) -> Sequence[Issue]:
    """The suggestions of the editor that have one fix, in text order."""
    return [
        issue
        for issue in lint(text).issues
        if issue.fix is not None
        and not issue.safe
        and apply(text, [issue], fixes="suggested").edits
    ]


def accepted_fixes(
    text: str, fixes: Iterable[Issue], ask: Ask, console: Console
) -> Sequence[Issue]:
    """The fixes that the person accepts, until the last one or `q`.

    Args:
        text: The text.
        fixes: The fixes to decide on.
        ask: Waits for a line.
        console: Shows the questions.
    """
    fixes = list(fixes)
    accepted: list[Issue] = []
    kinds = set[str | None]()
    for number, issue in enumerate(fixes, 1):
        if issue.rule in kinds:
            accepted.append(issue)
            continue
        console.print(_question(text, issue, f"{number}/{len(fixes)}"))
        key = _decision(ask, console)
        if key == "q":
            break
        if key == "a":
            kinds.add(issue.rule)
        if key in {"y", "a"}:
            accepted.append(issue)
    return accepted


async def review(chain: "Chain", result: "RunResult") -> "RunResult":
    """The run after the person's version, which has the accepted fixes.

    What was not accepted is declined. A text that has no suggested fix stays as it is.

    Raises:
        ConfigurationError: There is no terminal to ask at.
    """
    brief = result.brief
    fixes = await to_thread.run_sync(suggested_fixes, result.text)
    if brief is None or not fixes:
        return result
    with terminal() as keyboard:
        console = Console(file=sys.stderr, highlight=False)
        accepted = await to_thread.run_sync(
            accepted_fixes, result.text, fixes, keyboard.readline, console, abandon_on_cancel=True
        )
    text = apply(result.text, accepted, fixes="suggested").text
    return await chain.submit(result.run_id, brief.parent_id, text, reason=DECLINED)


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


def _decision(ask: Ask, console: Console) -> str:
    while True:
        line = ask()
        key = line.strip().lower()
        if key in {"y", "n", "a", "q"}:
            return key
        if not line:
            return "q"
        console.print(KEYS, style="dim")


def _question(text: str, issue: Issue, number: str) -> Text:
    """The sentence with the change in it, and the keys."""
    start, end = issue.start or 0, issue.end or 0
    first = max((text.rfind(mark, 0, start) + 1 for mark in _ENDS), default=0)
    ends = (text.find(mark, end) for mark in _ENDS)
    last = min((place + 1 for place in ends if place >= 0), default=len(text))
    first, last = max(first, start - _AROUND), min(last, end + _AROUND)
    return Text.assemble(
        (f"{number} {issue.rule}: {visible(issue.message)}\n", "bold"),
        f"  {_flat(text[first:start]).lstrip()}",
        (f"[-{_flat(text[start:end])}-]", "red"),
        (f"{{+{_flat(issue.fix or '')}+}}", "green"),
        _flat(text[end:last]).rstrip(),
        (f"\n  {KEYS}", "dim"),
    )


def _flat(text: str) -> str:
    return visible(text.replace("\r", "").replace("\n", " "))
