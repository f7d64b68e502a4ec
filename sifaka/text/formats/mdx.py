"""MDX: what of it is not prose, beside the code of Markdown."""

import re
from collections.abc import Iterator

from sifaka.text.formats.marks import Lines, Mark, names, pairs
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked

_MODULE = re.compile(r"(?:import|export)\b(?=[ \t{*'\"])")
_TAG = re.compile(r"</?(?P<name>[A-Za-z][\w.:-]*)(?=[\s/>])|</?>")
_TAG_PART = re.compile(r"[>{]|\"[^\"]*\"|'[^']*'")
_PART_BEGINS = re.compile(r"[>{\"']")
# Strings count in braces alone: outside of them an apostrophe is one.
_BRACE = re.compile(r"(?P<open>)\{|(?P<close>)\}")
_IN_A_LINE = names(
    """
    a abbr b br code em i img kbd small span strong sub sup
    """
)


def mdx(text: str) -> Iterator[Mark]:
    """Imports and exports, elements' tags, expressions and comments in braces."""
    bare = blanked(text, code_spans(text))
    modules = list(_modules(bare))
    yield from modules
    bare = blanked(bare, [(mark.start, mark.end) for mark in modules])
    braces = pairs(bare, _BRACE)
    tags = _Tags(bare, braces)
    at = 0
    for match in re.finditer(r"<(?=/?[A-Za-z>])|\{", bare):
        start = match.start()
        if start < at:
            continue
        if match.group() == "{":
            at = braces.get(start, start + 1)
            yield Mark(start, at, "code")
        elif tag := _TAG.match(bare, start):
            at = tags.end(tag.end()) if tag["name"] else tag.end()
            yield Mark(start, at, "style" if tag["name"] in _IN_A_LINE else "block")


def _modules(text: str) -> Iterator[Mark]:
    """Imports and exports, each up to a blank line."""
    inside = False
    above_blank = True
    for line in Lines(text):
        inside = not line.blank and (inside or (above_blank and bool(_MODULE.match(line.text))))
        above_blank = line.blank
        if inside:
            yield Mark(line.start, line.end)


class _Tags:
    """The ends of a text's tags."""

    def __init__(self, text: str, braces: dict[int, int]) -> None:
        self._text = text
        self._braces = braces
        self._bare = (0, 0)
        """A stretch in which no part of a tag begins, so that it is searched once."""

    def end(self, at: int) -> int:
        """The offset after a tag with its attributes; the start when it has no end."""
        start = at
        while match := self._part(at, start + 5_000):
            if match.group() == ">":
                return match.end()
            at = match.end()
            if match.group() == "{":
                if match.start() not in self._braces:
                    return start
                at = self._braces[match.start()]
        return start

    def _part(self, at: int, end: int) -> re.Match[str] | None:
        first, last = self._bare
        if not first <= at <= last:
            begins = _PART_BEGINS.search(self._text, at)
            last = begins.start() if begins else len(self._text)
            self._bare = (at, last)
        return _TAG_PART.search(self._text, last, end) if last < end else None
