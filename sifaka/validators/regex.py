"""Patterns that a text must match, and patterns that it must not.

They are of users: checked when given, and bounded when run.
"""

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from sifaka.isolation import run_limited
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.prose import Span
from sifaka.validators.spec import ISSUE_LIMIT, Name, OptionalSpec

if TYPE_CHECKING:
    import regex

PATTERN_LIMIT = 2_000
"""The most characters of one pattern."""
PATTERN_SECONDS = 0.25
"""Seconds of processor time that one pattern may run on one text."""
EXPANSION_LIMIT = 10_000
"""The most parts of a pattern, each counted as often as it is repeated at least."""

_PART = re.compile(r"\\.|\[\^?(?:\\.|[^\]\\])*\]?|\{(\d+),?\d*\}|.", re.DOTALL)
"""An escape, a set, a repetition, or another character."""


@lru_cache(maxsize=32)
def compile_pattern(pattern: str, *, by_line: bool = False) -> "regex.Pattern[str]":
    """The compiled pattern, which takes `timeout` when it runs.

    Args:
        pattern: The pattern.
        by_line: Whether `^` and `$` are the ends of a line, not of the text.

    Raises:
        ValueError: It is empty, too long or broken; says where and why in one line.
    """
    # The engine is `regex`, never `re`: it alone can be stopped.
    import regex

    if not pattern:
        raise ValueError("a pattern is empty")
    if len(pattern) > PATTERN_LIMIT:
        raise ValueError(f"a pattern has {len(pattern)} characters, at most {PATTERN_LIMIT}")
    if (parts := _count_parts(pattern)) > EXPANSION_LIMIT:
        raise ValueError(
            f"{shown(pattern)} repeats too much: {parts} parts, at most {EXPANSION_LIMIT}"
        )
    try:
        return regex.compile(pattern, regex.MULTILINE if by_line else 0, cache_pattern=False)
    except (regex.error, ValueError, OverflowError) as error:
        # Its text is the reason and the position: `missing ) at position 4`.
        raise ValueError(f"broken regex {shown(pattern)}: {error}") from None
    except RecursionError:
        raise ValueError(f"broken regex {shown(pattern)}: it is nested too deeply") from None


def _count_parts(pattern: str) -> int:
    """The parts that the engine makes of a pattern; it writes out each repetition's least count."""
    sizes = [0]  # of the groups that are open, the innermost last
    last = 0
    for match in _PART.finditer(pattern):
        part = match.group()
        if part == "(":
            sizes.append(0)
        elif part == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif match.group(1):
            more = last * max(0, int(match.group(1)) - 1)
            sizes[-1] += more
            last += more
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)


def shown(pattern: str) -> str:
    """The pattern as it appears in a message: quoted and of bounded length."""
    return repr(pattern if len(pattern) <= 60 else pattern[:59] + "…")


def _check_pattern(pattern: str) -> str:
    return compile_pattern(pattern).pattern


UserPattern = Annotated[str, AfterValidator(_check_pattern)]
"""A pattern that is known to compile."""


COUNT_LIMIT = 50
"""The most patterns of one list."""
TOTAL_SECONDS = 2.0
"""Seconds that all patterns of one validator may run together."""
MATCH_LIMIT = 1_000
"""The most matches of one forbidden pattern that are counted."""


Patterns = Annotated[Sequence[UserPattern], Field(max_length=COUNT_LIMIT), AfterValidator(tuple)]


class RegexValidator(OptionalSpec):
    """Searches for patterns in the syntax of the `regex` package.

    `^` and `$` are the ends of each line. Each pattern runs for at most a quarter of a second, in a
    process with limits; one that takes longer has failed.
    """

    schema_note: ClassVar[str] = "^ and $ match at each line"
    type: Literal["regex"] = "regex"
    name: Name = "regex"
    must_match: Patterns = ()
    must_not_match: Patterns = ()

    @model_validator(mode="after")
    def _check_lists(self) -> "RegexValidator":
        if not self.must_match and not self.must_not_match:
            raise ValueError("give at least one pattern in must_match or must_not_match")
        if both := set(self.must_match) & set(self.must_not_match):
            raise ValueError(f"{shown(min(both))} is in must_match and in must_not_match")
        return self

    async def validate(self, thought: Thought) -> ValidationResult:
        """Run the patterns in a process of their own."""
        patterns = self.must_match, self.must_not_match
        # A process that has just started loads its modules in the time of its first work.
        most = 2 * TOTAL_SECONDS
        return await run_limited(_check, thought.text, *patterns, size=inf, seconds=most)


def _check(text: str, wanted: Sequence[str], forbidden: Sequence[str]) -> ValidationResult:
    deadline = time.monotonic() + TOTAL_SECONDS
    findings = [_apply_pattern(text, pattern, deadline) for pattern in wanted]
    findings += [_apply_pattern(text, pattern, deadline, forbidden=True) for pattern in forbidden]
    return ValidationResult(
        passed=all(each.passed for each in findings),
        message="; ".join(each.message for each in findings if each.message)
        or f"{len(findings)} of {len(findings)} patterns as asked",
        score=sum(each.score for each in findings) / len(findings),
        issues=tuple(issue for each in findings for issue in each.issues)[:ISSUE_LIMIT],
        suggestions=tuple(advice for each in findings for advice in each.suggestions),
    )


def _apply_pattern(
    text: str, pattern: str, deadline: float, *, forbidden: bool = False
) -> ValidationResult:
    """The outcome of one pattern."""
    name = shown(pattern)
    about: dict[str, Any] = {"category": "pattern", "rule": pattern}
    spans: Sequence[Span] | None = None
    seconds = min(PATTERN_SECONDS, deadline - time.monotonic())
    with suppress(TimeoutError):
        matches = compile_pattern(pattern, by_line=True).finditer(text, timeout=max(0.0, seconds))
        spans = [match.span() for match in islice(matches, MATCH_LIMIT if forbidden else 1)]
    if spans is None:
        message = f"{name} took longer than {PATTERN_SECONDS} s"
        advice = f"simplify the pattern {name}: no repetition inside a repetition"
    elif bool(spans) is not forbidden:
        return ValidationResult(passed=True)
    elif forbidden:
        count = f"{len(spans)}{' or more' if len(spans) == MATCH_LIMIT else ''}"
        message = f"{count} {'match' if len(spans) == 1 else 'matches'} of forbidden {name}"
        advice = f"reword or remove what matches {name}"
    else:
        message, advice = f"nothing matches {name}", f"write something that matches {name}"
    reason = f"matches the forbidden pattern {name}"
    issues = tuple(Issue.at(text, *span, reason, **about) for span in spans or ())
    return ValidationResult(
        passed=False,
        message=message,
        score=1 / (1 + len(spans)) if spans else 0.0,
        issues=issues or (Issue(message=message, **about),),
        suggestions=(advice,),
    )
