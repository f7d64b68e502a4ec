"""Paragraphs that a machine reads: code, queries, data, logs, settings, traces, shell sessions.

Their lines need no fence to be recognised. Prose has to look like prose to be edited among them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sifaka.editor.machine_lines import CONTINUES, WHOLE, is_machine, is_prose
from sifaka.editor.records import is_records
from sifaka.text.prose import Span

_PARAGRAPH = re.compile(r"(?:^(?=[^\n]*\S)[^\n]*(?:\n|\Z))+", re.MULTILINE)
_LITERAL = re.compile(r"^[ \t]*(?:[rbfuRBFU]{0,2}(\"{3}|'{3})|(/\*))", re.MULTILINE)
_DEEPER = re.compile(r"(?: {2,}|\t[ \t]*)(?![-*+•]\s|\d{1,3}[.)]\s)")
_TARGET = re.compile(r"[\w.%/-]+:(?: [\w.%/$()-]+)*\s*$")
_MARKED = re.compile(r"\s*(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s")


def machine_text(text: str) -> Iterator[Span]:
    """Spans of whole lines that are not written for people to read as sentences."""
    yield from _literals(text)
    after_machine = False
    for match in _PARAGRAPH.finditer(text):
        lines = match.group().rstrip("\n").split("\n")
        start, end = match.start(), match.start() + len(match.group().rstrip("\n"))
        machine = [is_machine(line) for line in lines]
        if _is_whole(lines, machine, after_machine=after_machine):
            yield start, end
            after_machine = True
            continue
        after_machine = any(machine)
        if after_machine:
            yield from _runs(start, lines, machine)


def _literals(text: str) -> Iterator[Span]:
    """Long strings and comments of programs, from opening to closing mark."""
    position = 0
    unclosed = set[str]()
    for match in _LITERAL.finditer(text):
        closing = match.group(1) or "*/"
        # Looking for the same missing mark again and again would take quadratic time.
        if match.start() < position or closing in unclosed:
            continue
        end = text.find(closing, match.end())
        if end < 0:
            unclosed.add(closing)
            continue
        position = end + len(closing)
        yield match.start(), position


def _is_whole(lines: Sequence[str], machine: Sequence[bool], *, after_machine: bool) -> bool:
    """True when all lines of a paragraph are written for a machine."""
    if any(WHOLE.match(line) for line in lines) and not is_prose(lines[0]):
        return True
    if is_records(lines) or _is_recipe(lines):
        return True
    evident = sum(machine)
    if evident * 2 >= len(lines) and (evident > 1 or len(lines) <= 2) and not is_prose(lines[0]):
        return True
    if any(is_prose(line) for line in lines):
        return False
    if evident:
        return True
    # A blank line inside a listing: what follows goes on where it stopped.
    return after_machine and (
        all(_DEEPER.match(line) for line in lines)
        or (not _MARKED.match(lines[0]) and all(CONTINUES.match(line) for line in lines))
    )


def _is_recipe(lines: Sequence[str]) -> bool:
    """True for a rule of a makefile: a target, and commands behind tabs."""
    return (
        len(lines) > 1
        and bool(_TARGET.match(lines[0]))
        and all(line.startswith("\t") for line in lines[1:])
    )


def _runs(offset: int, lines: Sequence[str], machine: Sequence[bool]) -> Iterator[Span]:
    """The evident lines of a mixed paragraph, and what hangs on them."""
    inside = False
    begins = [offset]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    for number, line in enumerate(lines):
        inside = machine[number] or (inside and (bool(_DEEPER.match(line)) or not is_prose(line)))
        if inside:
            yield begins[number], begins[number] + len(line)
    # A comment or a heading of the listing stands right above it.
    for number, pair in enumerate(pairwise(machine)):
        if pair == (False, True) and not is_prose(lines[number]):
            yield begins[number], begins[number] + len(lines[number])
