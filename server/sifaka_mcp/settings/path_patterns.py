"""Patterns of files as in .gitignore, which may be somebody else's.

Each is a regular expression in which nothing is tried twice: what follows a `*` or a `**/` has a
fixed length, so the first place where it fits is as good as any other, and an atomic group keeps
it. So a path takes no longer than its length times that of the patterns.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sifaka.errors import ConfigurationError

LARGEST = 20_000
"""Bytes of all patterns of a file together."""
_SLASH = ord("/")
_BYTES = bytes(range(256))
_ITEM = rb"\[:[^\]]{0,9}:\]|(?:\\.|[^\\])(?:-(?:\\.|[^\]\\]))?"
"""In square brackets: a class, or a byte or the first and the last of some."""
_ITEMS = re.compile(
    rb"\[:(?P<class>[^\]]{0,9}):\]|(?P<first>\\.|[^\\])(?:-(?P<last>\\.|[^\]\\]))?", re.DOTALL
)
_TOKEN = re.compile(
    rb"(?P<folders>(?<![^/])(?:\*{2,}+/)+)|(?P<rest>(?<![^/])\*{2,}+\Z)|(?P<stars>\*+)|(?P<one>\?)"
    rb"|\[(?P<negated>[!^]?)(?P<items>(?>%b)(?>(?!\])(?:%b))*+)\]|(?P<itself>\\.|[^\\\[])"
    rb"|(?P<never>.)" % (_ITEM, _ITEM),
    re.DOTALL,
)
_CLASSES: Mapping[bytes, bytes] = {
    b"alnum": b"A-Za-z0-9",
    b"alpha": b"A-Za-z",
    b"blank": b" \\t",
    b"cntrl": b"\\x00-\\x1f\\x7f",
    b"digit": b"0-9",
    b"graph": b"!-~",
    b"lower": b"a-z",
    b"print": b" -~",
    b"punct": b"!-/:-@\\[-`{-~",
    b"space": b" \\t-\\r",
    b"upper": b"A-Z",
    b"xdigit": b"0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern, and its number among the lines."""

    number: int
    negated: bool
    folders: bool
    """True when it is of folders alone."""
    expression: re.Pattern[bytes]

    def matches(self, path: bytes, *, folder: bool) -> bool:
        return (folder or not self.folders) and self.expression.match(path) is not None


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns, by the rules of git."""

    _patterns: Sequence[_Pattern]
    """Those of the last lines first."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> "Patterns":
        """Patterns as lines of a .gitignore.

        Raises:
            ConfigurationError: They have more than `LARGEST` bytes.
        """
        trimmed = [_trim_line(os.fsencode(line)) for line in lines]
        if (size := sum(map(len, trimmed))) > LARGEST:
            raise ConfigurationError(
                f"the patterns have {size:,} bytes, at most {LARGEST:,} are read", "use fewer"
            )
        patterns: list[_Pattern] = []
        for number, line in enumerate(trimmed):
            negated, folders = line.startswith(b"!"), line.endswith(b"/")
            pattern = line[negated : len(line) - folders]
            if pattern and not line.startswith(b"#"):
                path = pattern.removeprefix(b"/") if b"/" in pattern else b"**/" + pattern
                patterns.insert(0, _Pattern(number, negated, folders, re.compile(_to_regex(path))))
        return cls(patterns)

    def decides(self, path: str, *, folder: bool) -> bool | None:
        """What the last pattern says that is for this very path; None when there is none."""
        raw = os.fsencode(path)
        return next((not p.negated for p in self._patterns if p.matches(raw, folder=folder)), None)

    def covers(self, path: str, *, folder: bool = False) -> bool:
        """True when the patterns cover a path, or a folder above it."""
        return any(self.decides(each, folder=each != path or folder) for each in _paths_to(path))

    def numbers(self, path: str) -> Iterator[int]:
        """The numbers of the patterns that match the file at a path, or a folder above it."""
        paths = [(os.fsencode(each), each != path) for each in _paths_to(path)]
        for pattern in reversed(self._patterns):
            if not pattern.negated and any(pattern.matches(p, folder=f) for p, f in paths):
                yield pattern.number


def _paths_to(path: str) -> Iterator[str]:
    """The folders above a path, and it itself."""
    yield from (path[:at] for at, character in enumerate(path) if character == "/")
    yield path


def _trim_line(line: bytes) -> bytes:
    """A line without the blanks at its end, unless the first of them is escaped."""
    pattern = line.rstrip(b" ")
    escapes = len(pattern) - len(pattern.rstrip(b"\\"))
    return line[: len(pattern) + escapes % 2]


_EXPRESSIONS: Mapping[str | None, bytes] = {
    "folders": b"(?>(?:[^/]+/)*?",
    "rest": b"(?s:.+)",
    "stars": b"(?>[^/]*?",
    "one": b"[^/]",
}


def _to_regex(pattern: bytes) -> bytes:
    """The regular expression of a pattern, for a whole path."""
    parts: list[bytes] = []
    in_folders = in_star = False
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind == "never":  # nothing fits what is not closed
            return b"(?!)"
        if in_star and (kind == "stars" or text == b"/"):
            parts.append(b")" if kind == "stars" else b"(?=/))")
            in_star = False
        if kind == "folders":
            parts.append(b")" * in_folders)
            in_folders = True
        in_star |= kind == "stars"
        itself = _build_brackets(token) if kind == "items" else re.escape(text[-1:])
        parts.append(_EXPRESSIONS.get(kind, itself))
    return b"".join(parts) + b"(?=\\Z))" * in_star + b"\\Z" + b")" * in_folders


def _build_brackets(token: re.Match[bytes]) -> bytes:
    """The regular expression of square brackets; one that fits nothing where a class is unknown."""
    allowed: set[int] = set()
    for name, first, last in _ITEMS.findall(token["items"]):
        if not first and name not in _CLASSES:
            return b"(?!)"
        if first:
            allowed.update(first[-1:], range(first[-1], (last or first)[-1] + 1))
        else:
            allowed.update(*re.findall(b"[%b]" % _CLASSES[name], _BYTES))
    allowed = allowed | {_SLASH} if token["negated"] else allowed - {_SLASH}
    members = b"".join(b"\\x%02x" % byte for byte in allowed)
    return b"[%b%b]" % (b"^" * bool(token["negated"]), members) if allowed else b"(?!)"
