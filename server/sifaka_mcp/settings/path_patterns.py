"""Patterns of files as in .gitignore, which may be somebody else's.

Each is a regular expression in which nothing is tried twice: what follows a `*` or a `**/` has a
fixed length, so the first place where it fits is as good as any other, and an atomic group keeps
it. So a path takes no longer than its length times that of the patterns.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
    """A pattern, and the line that it was written as."""

    line: str
    negated: bool
    folders: bool
    """True when it is of folders alone."""
    expression: re.Pattern[bytes]

    def matches(self, path: bytes, *, folder: bool) -> bool:
        return (folder or not self.folders) and self.expression.match(path) is not None


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of what lies below a folder, by the rules of git."""

    folder: Path
    _patterns: Sequence[_Pattern]
    """Those of the last lines first."""

    @classmethod
    def of(cls, folder: Path, lines: Iterable[str]) -> "Patterns":
        """Patterns as lines of the .gitignore of a folder, which is named from the root.

        Raises:
            ConfigurationError: They have more than `LARGEST` bytes.
        """
        trimmed = [(line, _trim_line(os.fsencode(line))) for line in lines]
        if (size := sum(len(bare) for _, bare in trimmed)) > LARGEST:
            raise ConfigurationError(
                f"the patterns have {size:,} bytes, at most {LARGEST:,} are read", "use fewer"
            )
        patterns: list[_Pattern] = []
        for line, bare in trimmed:
            negated, folders = bare.startswith(b"!"), bare.endswith(b"/")
            pattern = bare[negated : len(bare) - folders]
            if pattern and not bare.startswith(b"#"):
                path = pattern.removeprefix(b"/") if b"/" in pattern else b"**/" + pattern
                patterns.insert(0, _Pattern(line, negated, folders, re.compile(_to_regex(path))))
        return cls(folder, patterns)

    def decides(self, path: Path, *, folder: bool) -> bool | None:
        """What the last pattern says that is for this very path; None when there is none."""
        return self._decides(self._steps_to(path)[-1], folder=folder)

    def covers(self, path: Path, *, folder: bool = False) -> bool:
        """True when the patterns cover a path, or a folder above it."""
        steps = self._steps_to(path)
        return any(self._decides(each, folder=each != steps[-1] or folder) for each in steps)

    def matching(self, path: Path) -> Iterator[str]:
        """The lines whose patterns match the file at a path, or a folder above it."""
        steps = self._steps_to(path)
        for pattern in reversed(self._patterns):
            if not pattern.negated and any(
                pattern.matches(each, folder=each != steps[-1]) for each in steps
            ):
                yield pattern.line

    def _decides(self, path: bytes, *, folder: bool) -> bool | None:
        return next((not p.negated for p in self._patterns if p.matches(path, folder=folder)), None)

    def _steps_to(self, path: Path) -> Sequence[bytes]:
        """The folders between this one and a path, and the path itself; none of one elsewhere."""
        full_path = absolute(path)
        if not full_path.is_relative_to(self.folder):
            return ()
        inside = os.fsencode(full_path.relative_to(self.folder).as_posix())
        return [*(inside[:at] for at, byte in enumerate(inside) if byte == _SLASH), inside]


def absolute(path: Path) -> Path:
    """A path from the root, without `..`; links in it are not followed."""
    return Path(os.path.normpath(Path.cwd() / path))


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
