"""Regular expressions of users: checked when given, bounded when run."""

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

if TYPE_CHECKING:
    import regex

PATTERN_LIMIT = 2_000
"""The most characters of one pattern."""
PATTERN_SECONDS = 0.25
"""Seconds that one pattern may run on one text."""


def compile_pattern(pattern: str) -> "regex.Pattern[str]":
    """The compiled pattern, which takes `timeout` and `concurrent` when it runs.

    Raises:
        ValueError: It is empty, too long or broken; says where and why in one line.
    """
    # The engine is `regex`, never `re`: it alone can be stopped and lets go of the interpreter.
    import regex

    if not pattern:
        raise ValueError("a pattern is empty")
    if len(pattern) > PATTERN_LIMIT:
        raise ValueError(f"a pattern has {len(pattern)} characters, at most {PATTERN_LIMIT}")
    try:
        return regex.compile(pattern)
    except regex.error as error:
        # Its text is the reason and the position: `missing ) at position 4`.
        raise ValueError(f"broken regex {shown(pattern)}: {error}") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"broken regex {shown(pattern)}: {error}") from None
    except RecursionError:
        raise ValueError(f"broken regex {shown(pattern)}: it is nested too deeply") from None


def shown(pattern: str) -> str:
    """The pattern as it appears in a message: quoted and of bounded length."""
    return repr(pattern if len(pattern) <= 60 else pattern[:59] + "…")


def _compiles(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


UserPattern = Annotated[str, AfterValidator(_compiles)]
"""A pattern that is known to compile."""
