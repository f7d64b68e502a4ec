"""Paragraphs that a machine reads: code, queries, data, logs, settings, traces, shell sessions.

Their lines need no fence to be recognised. Prose has to look like prose to be edited among them.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sifaka.editor.language import ENGLISH
from sifaka.text.formats.markup_spans import Closings
from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of

_PATTERNS = patterns_of(__file__, "machine")
_MARK = _PATTERNS["mark"]
_CODE = _PATTERNS["code"]
_WORD = _PATTERNS["word"]
_SYMBOLS = _PATTERNS["symbols"]


def _are_values(lines: Sequence[str]) -> bool:
    """True when all lines are data: values with separators."""
    head = _PATTERNS["bare_header"].match(lines[0])
    if head:
        mark = head["mark"]
        return all(mark in line for line in lines)
    for mark in ",;|" if len(lines) > 1 else "":
        counts = {_fields(line, mark) for line in lines}
        if len(counts) != 1:
            continue
        (count,) = counts
        joined = [_PATTERNS["quoted"].sub('"', line) for line in lines]
        if count >= 2 and not any(f"{mark} " in line for line in joined):
            return True
        if count >= 3 and all(_is_short(line, mark) for line in joined):
            return True
    return False


def _fields(line: str, mark: str) -> int:
    return _PATTERNS["quoted"].sub("", line).count(mark) + 1


def _is_short(line: str, mark: str) -> bool:
    """True when no field is long enough for a clause."""
    fields = line.strip().split(mark)
    return line.rstrip()[-1:] not in {".", "!", "?", ":", ","} and all(
        len(field.split()) <= 2 for field in fields
    )


def _are_settings(lines: Sequence[str]) -> bool:
    """True when all lines are data: keys with values."""
    if not any(":" in line or "=" in line for line in lines):
        return False
    pairs = [match for line in lines if (match := _PATTERNS["pair"].match(line))]
    sections = sum(bool(_PATTERNS["section"].match(line)) for line in lines)
    others = [
        line
        for line in lines
        if not _PATTERNS["pair"].match(line) and not _PATTERNS["section"].match(line)
    ]
    if not pairs or len(pairs) + sections < 2:
        return False
    if not all(_PATTERNS["remark"].match(line) or _PATTERNS["item"].match(line) for line in others):
        return False
    if len(pairs) + sections < len(others):
        return False
    keys = [match["key"] for match in pairs]
    if all(not key[0].isupper() or key.isupper() for key in keys):
        return True
    return any(match["mark"] == "=" for match in pairs) or any(
        map(_PATTERNS["http_key"].match, keys)
    )


_EVIDENT = (
    _PATTERNS["whole"],
    _PATTERNS["log"],
    _PATTERNS["trace"],
    _PATTERNS["command"],
    _PATTERNS["element"],
    _PATTERNS["query"],
)
"""Lines that need no second look."""


def is_machine(line: str) -> bool:
    """True when a line alone shows that it holds no sentence."""
    line = line.rstrip()[:500]
    if _MARK.match(line) or not line.strip():
        return False
    if any(pattern.match(line) for pattern in _EVIDENT):
        return True
    return bool(_CODE.match(line)) and not _reads_well(line)


def is_prose(line: str) -> bool:
    """True when a line is a sentence, or a part of one, in a natural language."""
    if _MARK.match(line):
        return not line.lstrip().startswith("#") and _reads_well(line)
    return _reads_well(line) and not (
        _PATTERNS["log"].match(line)
        or _PATTERNS["trace"].match(line)
        or _PATTERNS["query"].match(line)
    )


def _reads_well(line: str) -> bool:
    end = line.rstrip()
    if end.endswith(("{", "};", ");")):
        return False
    words = _WORD.findall(line)
    if end[-1:] not in {".", "!", "?", ":", ","} and len(words) < 6:
        return False
    plain = sum(word.lower() in ENGLISH for word in words)
    if plain < 2 or plain * 5 < len(words):
        return False
    return len(_SYMBOLS.findall(line)) * 3 <= plain


def machine_text(text: str) -> Iterator[Span]:
    """Spans of whole lines that are not written for people to read as sentences."""
    yield from _literals(text)
    after_machine = False
    for match in _PATTERNS["paragraph"].finditer(text):
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
    closings = Closings(text)
    position = 0
    for match in _PATTERNS["literal"].finditer(text):
        closing = match.group(1) or "*/"
        if match.start() >= position and (end := closings.after(closing, match.end(), 0)):
            position = end
            yield match.start(), end


def _is_whole(lines: Sequence[str], machine: Sequence[bool], *, after_machine: bool) -> bool:
    """True when all lines of a paragraph are written for a machine."""
    if any(_PATTERNS["whole"].match(line) for line in lines) and not is_prose(lines[0]):
        return True
    if _are_values(lines) or _are_settings(lines) or _is_recipe(lines):
        return True
    evident = sum(machine)
    if evident * 2 >= len(lines) and (evident > 1 or len(lines) <= 2) and not is_prose(lines[0]):
        return True
    if not evident and not after_machine:
        return False
    if any(is_prose(line) for line in lines):
        return False
    if evident:
        return True
    # A blank line inside a listing: what follows goes on where it stopped.
    return after_machine and (
        all(_PATTERNS["deeper"].match(line) for line in lines)
        or (not _MARK.match(lines[0]) and all(_PATTERNS["continues"].match(line) for line in lines))
    )


def _is_recipe(lines: Sequence[str]) -> bool:
    """True for a rule of a makefile: a target, and commands behind tabs."""
    return (
        len(lines) > 1
        and bool(_PATTERNS["target"].match(lines[0]))
        and all(line.startswith("\t") for line in lines[1:])
    )


def _runs(offset: int, lines: Sequence[str], machine: Sequence[bool]) -> Iterator[Span]:
    """The evident lines of a mixed paragraph, and what hangs on them."""
    inside = False
    begins = [offset]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    for number, line in enumerate(lines):
        inside = machine[number] or (
            inside and (bool(_PATTERNS["deeper"].match(line)) or not is_prose(line))
        )
        if inside:
            yield begins[number], begins[number] + len(line)
    # A comment or a heading of the listing stands right above it.
    for number, pair in enumerate(pairwise(machine)):
        if pair == (False, True) and not is_prose(lines[number]):
            yield begins[number], begins[number] + len(lines[number])
