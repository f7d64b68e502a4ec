"""Patterns that a text must match, and patterns that it must not."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import model_validator

from sifaka.isolation import run_limited
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.prose import Span
from sifaka.validators.patterns import (
    PATTERN_SECONDS,
    UserPattern,
    compile_pattern,
    seconds_left,
    shown,
)
from sifaka.validators.spec import ISSUE_LIMIT, Name, OptionalSpec, at_most

COUNT_LIMIT = 50
"""The most patterns of one list."""
TOTAL_SECONDS = 2.0
"""Seconds that all patterns of one validator may run together."""
MATCH_LIMIT = 1_000
"""The most matches of one forbidden pattern that are counted."""


Patterns = Annotated[Sequence[UserPattern], at_most(COUNT_LIMIT, "patterns")]


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
    def _asks_for_something(self) -> "RegexValidator":
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
    findings = [_search(text, pattern, deadline) for pattern in wanted]
    findings += [_search(text, pattern, deadline, forbidden=True) for pattern in forbidden]
    failed = [finding for finding in findings if finding.problem]
    return ValidationResult(
        passed=not failed,
        message="; ".join(finding.problem for finding in failed)
        or f"{len(findings)} of {len(findings)} patterns as asked",
        score=sum(finding.nearness for finding in findings) / len(findings),
        issues=tuple(issue for finding in failed for issue in _issues(text, finding))[:ISSUE_LIMIT],
        suggestions=tuple(finding.suggestion for finding in failed),
    )


class _Finding(NamedTuple):
    """The outcome of one pattern."""

    pattern: str
    problem: str = ""
    suggestion: str = ""
    nearness: float = 1.0
    spans: Sequence[Span] = ()
    """The matches of a forbidden one."""


def _search(text: str, pattern: str, deadline: float, *, forbidden: bool = False) -> _Finding:
    name = shown(pattern)
    try:
        seconds = seconds_left(deadline)
        matches = compile_pattern(pattern, by_line=True).finditer(text, timeout=seconds)
        spans = [match.span() for match in islice(matches, MATCH_LIMIT if forbidden else 1)]
    except TimeoutError:
        problem = f"{name} took longer than {PATTERN_SECONDS} s"
        advice = f"simplify the pattern {name}: no repetition inside a repetition"
        return _Finding(pattern, problem, advice, 0.0)
    if bool(spans) is not forbidden:
        return _Finding(pattern)
    if not forbidden:
        advice = f"write something that matches {name}"
        return _Finding(pattern, f"nothing matches {name}", advice, 0.0)
    count = f"{len(spans)}{' or more' if len(spans) == MATCH_LIMIT else ''}"
    problem = f"{count} {'match' if len(spans) == 1 else 'matches'} of forbidden {name}"
    advice = f"reword or remove what matches {name}"
    return _Finding(pattern, problem, advice, 1 / (1 + len(spans)), spans)


def _issues(text: str, finding: _Finding) -> Iterator[Issue]:
    if not finding.spans:
        yield Issue(message=finding.problem, category="pattern", rule=finding.pattern)
    message = f"matches the forbidden pattern {shown(finding.pattern)}"
    for start, end in finding.spans:
        yield Issue.at(text, start, end, message, category="pattern", rule=finding.pattern)
