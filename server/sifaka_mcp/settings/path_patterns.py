"""Patterns of files as in .gitignore, which may be somebody else's.

All patterns of a file are one automaton. Its state is a number with a bit for each of their
characters, and a path takes one step a character: so the time is that of reading the patterns once
for each character of a path, 64 of theirs at once, whatever they are.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sifaka.errors import ConfigurationError

LARGEST = 100_000
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
_KEYS: Mapping[str | None, tuple[str | int, ...]] = {
    "folders": ("across", "skips", _SLASH),
    "rest": ("across",),
    "stars": ("within",),
    "one": ("one",),
}
"""What is told of the places of tokens: see `Patterns`."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns, by the rules of git."""

    _masks: Mapping[str | int, int]
    """Sets of places, a place being a bit. In `within` a `*` takes bytes, in `across` a `**`; in
    `skips` is the slash of `**/`, which may be absent; `last` are the places behind the patterns,
    `folders` and `negated` those of such patterns."""
    _steps: Sequence[int]
    """The places that lead to the next one, by the byte of a path that does."""
    _numbers: Mapping[int, int]
    """The numbers of the patterns, by the places behind them."""

    @classmethod
    def of(cls, lines: Iterable[str]) -> "Patterns":
        """Patterns as lines of a .gitignore.

        Raises:
            ConfigurationError: They have more than `LARGEST` bytes.
        """
        given = [_trimmed(os.fsencode(line)) for line in lines]
        if (size := sum(map(len, given))) > LARGEST:
            raise ConfigurationError(
                f"the patterns have {size:,} bytes, at most {LARGEST:,} are read", "use fewer"
            )
        places: dict[str | int, list[int]] = defaultdict(list)
        numbers: dict[int, int] = {}
        at = 0
        for number, line in enumerate(given):
            negated, folders = line.startswith(b"!"), line.endswith(b"/")
            pattern = line[negated : len(line) - folders]
            if pattern and not line.startswith(b"#"):
                places["start"].append(at)
                anywhere = b"/" not in pattern
                at = _put(b"**/" + pattern if anywhere else pattern.removeprefix(b"/"), at, places)
                numbers[at] = number
                places["last"].append(at)
                places["negated"] += [at] * negated
                places["folders"] += [at] * folders
                at += 1
        masks = defaultdict(int, {key: _mask(found, at) for key, found in places.items()})
        masks["start"] |= (masks["start"] & masks["skips"]) << 1
        others = {byte: masks["one"] & ~masks[~byte] for byte in _BYTES if byte != _SLASH}
        return cls(masks, [masks[byte] | others.get(byte, 0) for byte in _BYTES], numbers)

    def decides(self, path: str, *, folder: bool) -> bool | None:
        """What the last pattern says that is for this very path; None when there is none."""
        *_, found = self._matching(path, folder=folder)
        return self._verdict(found)

    def covers(self, path: str, *, folder: bool = False) -> bool:
        """True when a path is meant, or a folder above it."""
        return any(self._verdict(found) for found in self._matching(path, folder=folder))

    def numbers(self, path: str) -> Iterator[int]:
        """The numbers of the patterns that mean the file at a path, or a folder above it."""
        found = reduce(int.__or__, self._matching(path, folder=False)) & ~self._masks["negated"]
        while found:
            yield self._numbers[(found & -found).bit_length() - 1]
            found &= found - 1

    def _verdict(self, found: int) -> bool | None:
        return not self._masks["negated"] & 1 << found.bit_length() - 1 if found else None

    def _matching(self, path: str, *, folder: bool) -> Iterator[int]:
        """The last places of the patterns that mean each folder above a path, and it itself."""
        state, last, across = (self._masks[key] for key in ("start", "last", "across"))
        for byte in os.fsencode(path):
            if byte == _SLASH:
                yield state & last
            moved = (state & self._steps[byte]) << 1
            state &= across if byte == _SLASH else across | self._masks["within"]
            state |= moved | (moved & self._masks["skips"]) << 1
        yield state & (last if folder else last & ~self._masks["folders"])


def _trimmed(line: bytes) -> bytes:
    """A line without the blanks at its end, unless the first of them is escaped."""
    pattern = line.rstrip(b" ")
    escapes = len(pattern) - len(pattern.rstrip(b"\\"))
    return line[: len(pattern) + escapes % 2]


def _put(pattern: bytes, at: int, places: dict[str | int, list[int]]) -> int:
    """Tell the places of a pattern from here on; returns the one behind it."""
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "never":  # nothing leads on from what is not closed
            return at + 1
        keys = _KEYS.get(kind) or (_members(token) if kind == "items" else (token[0][-1],))
        for key in keys:
            places[key].append(at)
        at += kind not in {"rest", "stars"}
    return at


def _members(token: re.Match[bytes]) -> Iterable[str | int]:
    """The bytes that square brackets stand for; none when a class in them is unknown."""
    found: set[int] = set()
    for name, first, last in _ITEMS.findall(token["items"]):
        if first:
            found.update(first[-1:], range(first[-1], (last or first)[-1] + 1))
        elif name not in _CLASSES:
            return ()
        else:
            found.update(*re.findall(b"[%b]" % _CLASSES[name], _BYTES))
    return ("one", *(~byte for byte in found)) if token["negated"] else found - {_SLASH}


def _mask(places: Iterable[int], size: int) -> int:
    bits = bytearray(size // 8 + 1)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")
