"""LaTeX: what of it is not prose."""

import re
from collections.abc import Iterator, Mapping

from sifaka.text.formats.markup_spans import Closings, Kind, Mark, pairs, with_its_word
from sifaka.text.tables import patterns_of, words_of

_PATTERNS = patterns_of(__file__, "latex")
_NAMES = words_of(__file__, "latex")
_KINDS: Mapping[str, Kind] = {
    "comment": "style",
    "end": "block",
    "break": "block",
    "symbol": "style",
    "verb": "code",
    "quote": "code",
}
_PROSE_ARGUMENT: Mapping[str, int] = {
    name: number for number, group in enumerate(("first", "second")) for name in _NAMES[group]
}
"""The number of the argument of prose, among those in braces, of the commands that have one."""


def marks(text: str) -> Iterator[Mark]:
    """Commands, comments, formulas, tables, verbatim, the preamble.

    The arguments of a command are prose only where it is known that they are.
    """
    document = max(0, text.find("\\begin{document}"))
    start = document if "\\documentclass" in text[:document] else 0
    yield Mark(0, start)
    yield from _Reader(text, start).marks()


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        self._closings = Closings(text)
        self._braces = pairs(text, _PATTERNS["brace"])
        self._environments = pairs(text, _PATTERNS["environment"])

    def marks(self) -> Iterator[Mark]:
        text = self._text
        while match := _PATTERNS["token"].search(text, self._at):
            start, self._at = match.span()
            if match["environment"]:
                yield self._read_environment(match)
            elif match["display"] or match["formula"]:
                yield self._read_formula(match)
            elif match["accent"]:
                yield with_its_word(text, start, self._at)
            elif match["command"]:
                yield self._read_command(match)
            else:
                yield Mark(start, self._at, _KINDS[match.lastgroup or ""])

    def _read_environment(self, match: re.Match[str]) -> Mark:
        name = match["environment"].strip()
        plain = name.rstrip("*")
        if plain in _NAMES["verbatim"]:
            self._at = self._closings.after(f"\\end{{{name}}}", match.end(), match.end())
        elif plain in _NAMES["not_prose"]:
            self._at = self._environments.get(match.start(), match.end())
        else:
            self._at = self._skip_arguments(match.end())
        return Mark(match.start(), self._at)

    def _read_formula(self, match: re.Match[str]) -> Mark:
        closing = _PATTERNS[match.group()].search(self._text, match.end())
        if closing is None or closing.group().startswith("\n"):
            return Mark(*match.span(), "style")
        self._at = closing.end()
        return Mark(match.start(), self._at, "block" if match["display"] else "code")

    def _read_command(self, match: re.Match[str]) -> Mark:
        name = match.group()[1:].rstrip("*")
        block = name in _NAMES["blocks"]
        prose = _PROSE_ARGUMENT.get(name)
        if name in _NAMES["definitions"]:
            brace = self._text.find("{", match.end(), match.end() + 200)
            self._at = max(self._skip_arguments(brace), match.end())
            return Mark(match.start(), self._at)
        if name in {"input", "include"} and (
            file := _PATTERNS["file"].match(self._text, match.end())
        ):
            self._at = file.end()
            return Mark(match.start(), self._at)
        number = 0
        while group := _PATTERNS["argument"].match(self._text, self._at):
            begin = group.end() - 1
            after = self._find_group_end(begin)
            if group["brace"] and prose == number:
                self._at = begin + 1
                break
            if not after or (group["brace"] and begin - self._at > 1):
                break
            self._at = after
            number += bool(group["brace"])
        styled = self._at == match.end() or prose is not None
        return Mark(match.start(), self._at, "block" if block else "style" if styled else "code")

    def _skip_arguments(self, at: int) -> int:
        """The offset after the groups that follow directly."""
        while at >= 0 and (after := self._find_group_end(at)):
            at = after
        return at

    def _find_group_end(self, at: int) -> int:
        """The offset after an argument in braces or brackets; 0 where none begins."""
        if self._text[at : at + 1] != "[":
            return self._braces.get(at, 0)
        end = self._text.find("]", at, at + 1_000)
        return end + 1 if end >= 0 and not _PATTERNS["blank"].search(self._text, at, end) else 0
