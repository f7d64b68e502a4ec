"""Citations in a text: numbers in brackets."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping

_MARKER = re.compile(
    r"(?P<space>(?:(?<![ \t])[ \t]++)?)"
    r"\[\^?(?P<numbers>\d{1,4}(?:\s*[,;]\s*\^?\d{1,4})*)\](?:\([^()\s]*\))?"
)
_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)|\Z)|`+[^`\n]*`+",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"\d+")
_ACTIVE = re.compile(r"[\[\]<]")


def cited(text: str) -> tuple[int, ...]:
    """The numbers that a text cites, in the order of their first mention."""
    numbers: list[int] = []
    _replaced(text, lambda found: numbers.extend(found) or "")
    return tuple(dict.fromkeys(numbers))


def renumbered(text: str, numbers: Mapping[int, int]) -> tuple[str, tuple[int, ...]]:
    """The text with other numbers, one pair of brackets for each.

    Args:
        text: What cites.
        numbers: The new number for each that is known.

    Returns:
        The text without the markers that are not known, and the numbers of those.
    """
    unknown: list[int] = []

    def marks(found: list[int]) -> str:
        unknown.extend(number for number in found if number not in numbers)
        known = dict.fromkeys(numbers[number] for number in found if number in numbers)
        return "".join(f"[{number}]" for number in known)

    return _replaced(text, marks), tuple(dict.fromkeys(unknown))


def literal(text: str) -> str:
    """A quoted text in which nothing is a citation, a link, an image, HTML or code."""
    return _ACTIVE.sub(r"\\\g<0>", text.replace("`", "'"))


def _replaced(text: str, marks: Callable[[list[int]], str]) -> str:
    """The text with other marks for its markers; what is code stays as it is."""
    code = [match.span() for match in _CODE.finditer(text)]
    starts = [start for start, _ in code]

    def replace(match: re.Match[str]) -> str:
        at = match.start("numbers")
        before = bisect_right(starts, at)
        if before and at < code[before - 1][1]:
            return match.group()
        new = marks([int(number) for number in _NUMBER.findall(match["numbers"])])
        # A bracket or a colon right after it would make it a link, or say where all such links go.
        apart = " " if text[match.end() : match.end() + 1] in {"(", ":"} else ""
        return f"{match['space']}{new}{apart}" if new else ""

    return _MARKER.sub(replace, text)
