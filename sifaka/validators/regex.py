"""Patterns that a text must match, and patterns that it must not."""

import time
from collections.abc import Iterator, Sequence
from math import inf
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, model_validator

from sifaka.isolation import run_limited
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.patterns import PATTERN_SECONDS, UserPattern, compile_pattern, shown
from sifaka.validators.spec import ISSUE_LIMIT, Name, OptionalSpec

COUNT_LIMIT = 50
"""The most patterns of one list."""
TOTAL_SECONDS = 2.0
"""Seconds that all patterns of one validator may run together."""
MATCH_LIMIT = 1_000
"""The most matches of one forbidden pattern that are counted."""


def _bounded(patterns: Sequence[str]) -> tuple[str, ...]:
    if len(patterns) > COUNT_LIMIT:
        raise ValueError(f"should be at most {COUNT_LIMIT} patterns, not {len(patterns)}")
    return tuple(patterns)


Patterns = Annotated[Sequence[UserPattern], AfterValidator(_bounded)]


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
        return await run_limited(_check, thought.text, *patterns, size=inf, seconds=TOTAL_SECONDS)


def _check(text: str, wanted: Sequence[str], forbidden: Sequence[str]) -> ValidationResult:
    deadline = time.monotonic() + TOTAL_SECONDS
    findings = [_search(text, pattern, deadline) for pattern in wanted]
    findings += [_search_all(text, pattern, deadline) for pattern in forbidden]
    failed = [finding for finding in findings if finding.problem]
    return ValidationResult(
        passed=not failed,
        message="; ".join(finding.problem for finding in failed)
        or f"{len(findings)} of {len(findings)} patterns as asked",
        score=sum(finding.nearness for finding in findings) / len(findings),
        issues=tuple(issue for finding in failed for issue in finding.issues(text))[:ISSUE_LIMIT],
        suggestions=tuple(finding.suggestion for finding in failed),
    )


class _Finding:
    """The outcome of one pattern."""

    def __init__(
        self,
        pattern: str,
        problem: str = "",
        suggestion: str = "",
        *,
        nearness: float = 1.0,
        spans: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.pattern, self.problem, self.suggestion = pattern, problem, suggestion
        self.nearness, self.spans = nearness, spans

    def issues(self, text: str) -> Iterator[Issue]:
        if not self.spans:
            yield Issue(message=self.problem, category="pattern", rule=self.pattern)
        message = f"matches the forbidden pattern {shown(self.pattern)}"
        for start, end in self.spans:
            yield Issue.at(text, start, end, message, category="pattern", rule=self.pattern)


def _search(text: str, pattern: str, deadline: float) -> _Finding:
    name = shown(pattern)
    try:
        seconds = _seconds_left(deadline)
        if compile_pattern(pattern, by_line=True).search(text, timeout=seconds):
            return _Finding(pattern)
    except TimeoutError:
        return _too_slow(pattern)
    return _Finding(
        pattern, f"nothing matches {name}", f"write something that matches {name}", nearness=0.0
    )


def _search_all(text: str, pattern: str, deadline: float) -> _Finding:
    spans: list[tuple[int, int]] = []
    try:
        seconds = _seconds_left(deadline)
        for match in compile_pattern(pattern, by_line=True).finditer(text, timeout=seconds):
            spans.append(match.span())
            if len(spans) == MATCH_LIMIT:
                break
    except TimeoutError:
        return _too_slow(pattern)
    if not spans:
        return _Finding(pattern)
    count = f"{len(spans)}{' or more' if len(spans) == MATCH_LIMIT else ''}"
    return _Finding(
        pattern,
        f"{count} {'match' if len(spans) == 1 else 'matches'} of forbidden {shown(pattern)}",
        f"reword or remove what matches {shown(pattern)}",
        nearness=1 / (1 + len(spans)),
        spans=spans,
    )


def _seconds_left(deadline: float) -> float:
    seconds = min(PATTERN_SECONDS, deadline - time.monotonic())
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _too_slow(pattern: str) -> _Finding:
    return _Finding(
        pattern,
        f"{shown(pattern)} took longer than {PATTERN_SECONDS} s",
        f"simplify the pattern {shown(pattern)}: no repetition inside a repetition",
        nearness=0.0,
    )
