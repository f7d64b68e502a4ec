"""Python: only comments and docstrings are prose."""

import io
import re
import tokenize
from collections.abc import Iterator
from itertools import accumulate, pairwise

from sifaka.text.formats.marks import Mark
from sifaka.text.formats.rst import rst
from sifaka.text.prose import Span

_MARKS = re.compile(r"#[:!]?[ \t]*")
_PRAGMA = re.compile(
    r"#\s*(?:!|-\*-|noqa|type:|pragma|pylint|pyright|mypy|ruff|isort|fmt:|yapf|flake8|nosec|coding|vim:|TODO|"
    r"SPDX|Copyright|@)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')")
_WORD = re.compile(r"[A-Za-z]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FRESH = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
"""Tokens after which a statement begins."""
_ENDS = frozenset({tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER})
"""Tokens with which a statement ends."""


def python(text: str) -> Iterator[Mark]:
    """Everything but comments and docstrings; in these, pragmas, markup and the code's own names.

    A text that is no Python is code altogether.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        yield Mark(0, len(text))
        return
    starts = [0, *accumulate(map(len, io.StringIO(text, newline="")))]
    names: set[str] = set()
    prose: list[Span] = []
    fresh = True
    for token, following in pairwise([*tokens, tokens[-1]]):
        start = (
            starts[token.start[0] - 1] + token.start[1]
            if token.start[0] <= len(starts)
            else len(text)
        )
        end = start + len(token.string)
        if token.type == tokenize.COMMENT:
            if not _PRAGMA.match(token.string) and (marks := _MARKS.match(token.string)):
                prose.append((start + marks.end(), end))
            continue
        if token.type == tokenize.NL:
            continue
        alone = fresh and following.type in _ENDS
        if token.type == tokenize.STRING and alone and (opening := _OPENING.match(token.string)):
            if "b" not in opening.group().lower() and "f" not in opening.group().lower():
                prose.append((start + opening.end(), end - len(opening.group(1))))
        elif token.type == tokenize.NAME:
            names |= {part.lower() for part in _PART.findall(token.string)}
        fresh = token.type in _FRESH
    yield from _between(text, prose)
    for start, end in prose:
        for mark in rst(text[start:end]):
            yield Mark(start + mark.start, start + mark.end, mark.kind)
        for word in _WORD.finditer(text, start, end):
            if word.group().lower() in names and len(word.group()) > 3:
                yield Mark(*word.span(), "code")


def _between(text: str, prose: list[Span]) -> Iterator[Mark]:
    at = 0
    for start, end in prose:
        yield Mark(at, start)
        at = end
    yield Mark(at, len(text))
