"""Regular expressions of users: checked when given, bounded when run."""

import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

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
    if (parts := _expanded(pattern)) > EXPANSION_LIMIT:
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


def seconds_left(deadline: float) -> float:
    """The seconds that a pattern may run before a deadline of `time.monotonic`.

    Raises:
        TimeoutError: There are none.
    """
    seconds = min(PATTERN_SECONDS, deadline - time.monotonic())
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _expanded(pattern: str) -> int:
    """The parts that the engine makes of a pattern; it writes out each repetition's least count."""
    sizes = [0]  # of the groups that are open, the innermost last
    last = 0
    for match in _PART.finditer(pattern):
        part = match.group()
        if part == "(":
            sizes.append(0)
            continue
        if part == ")" and len(sizes) > 1:
            last = sizes.pop()
        elif match.group(1):
            more = last * max(0, int(match.group(1)) - 1)
            sizes[-1] += more
            last += more
            continue
        else:
            last = 1
        sizes[-1] += last
    return sum(sizes)


def shown(pattern: str) -> str:
    """The pattern as it appears in a message: quoted and of bounded length."""
    return repr(pattern if len(pattern) <= 60 else pattern[:59] + "…")


def _compiles(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


UserPattern = Annotated[str, AfterValidator(_compiles)]
"""A pattern that is known to compile."""
