"""Texts that are data: JSON, YAML, CSV and tables, as values by their paths."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sifaka.text.notation import numeral_readings, shown_number

LONGEST = 200_000
"""Characters of a text that is read as data."""
_MOST_VALUES, _DEEPEST = 20_000, 40
_FENCE = re.compile(r"\A\s*(?:```|~~~)[^\n]{0,40}\n(.*?)\n?[ ]{0,3}(?:```|~~~)\s*\Z", re.DOTALL)
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*\|?[ \t]*:?-[ \t:|-]*")
_HTML_ROW = re.compile(r"<tr\b[^>]{0,200}>(.{0,5000}?)</tr>", re.DOTALL | re.IGNORECASE)
_HTML_CELL = re.compile(r"<t[hd]\b[^>]{0,200}>(.{0,2000}?)</t[hd]>", re.DOTALL | re.IGNORECASE)
_YAML = re.compile(r"(?:---\s*\n|- )?[\"']?[\w./-]+[\"']?:(?:\s|\Z)")
_PROSE = re.compile(r"^#{2,}[ ]|^[^:#\n]{30,500}\.$", re.MULTILINE)
"""Lines of a changelog or a letter that would be read as YAML by accident."""
_NUMERAL = re.compile(r"-?\d[\d.,']{0,40}")

Path = tuple[str, ...]


def values_of(text: str) -> Mapping[Path, str] | None:
    """The values of a text that is data, by path; None of any other text.

    A row of a table, or an object in a list, has the name of its first value in a path; so the
    order of rows and keys does not count, nor do the case and the joints of keys.
    """
    if len(text) > LONGEST:
        return None
    fenced = _FENCE.match(text)
    try:
        found = dict(_flattened(_parsed((fenced[1] if fenced else text).strip()), (), 0))
    except (ValueError, RecursionError, csv.Error):
        return None
    return found if 1 < len(found) < _MOST_VALUES else None


def comparable(value: str) -> str:
    """A value without the notation of its numbers and the case of its words."""
    bare = value.replace("\\|", "|").strip().strip("*_`\"'").casefold()
    readings = numeral_readings(bare.lstrip("-")) if _NUMERAL.fullmatch(bare) else ()
    shown = "|".join(map(shown_number, readings))
    return f"{bare[: bare[0] == '-']}{shown}" if shown else bare.replace("null", "").strip("-~")


def _parsed(text: str) -> object:
    """The data of a text.

    Raises:
        ValueError: It is none.
    """
    if text[:1] in "{[":
        return json.loads(text)
    rows = _HTML_ROW.findall(text)
    lines = [line.strip() for line in text.split("\n")]
    if rows:
        return _records([_HTML_CELL.findall(row) for row in rows])
    if len(lines) > 2 and _RULE.fullmatch(lines[1]) and all("|" in line for line in lines):
        return _records([_CELL_END.split(line.strip("|")) for line in (lines[0], *lines[2:])])
    for mark in ",;\t":
        listed = list(csv.reader(lines, delimiter=mark))
        even = {len(row) for row in listed} == {lines[0].count(mark) + 1}
        if even and mark in lines[0] and 2 * text.count(f"{mark} ") <= text.count(mark):
            return _records(listed)
    return _parsed_yaml(text)


def _records(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]


def _parsed_yaml(text: str) -> object:
    import yaml

    if not _YAML.match(text) or _PROSE.search(text) or "\n" not in text:
        raise ValueError("this is prose")
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506, it only makes strings
    except yaml.YAMLError as error:
        raise ValueError("this is no YAML") from error


def _flattened(data: object, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    if depth > _DEEPEST:
        raise ValueError("this is too deep")
    if not isinstance(data, dict | list):
        yield path, comparable(data) and data if isinstance(data, str) else json.dumps(data)
        return
    if isinstance(data, list):
        listed = cast("list[object]", data)
        items = {_label(value, n): value for n, value in reversed([*enumerate(listed)])}
        data = items if len(items) == len(listed) else dict(enumerate(listed))
    for key, value in cast("dict[object, object]", data).items():
        yield from _flattened(value, (*path, re.sub(r"[\W_]+", "", str(key).casefold())), depth + 1)


def _label(value: object, number: int) -> object:
    """What a row or an object of a list is known by: its first value."""
    inside = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    first = next(iter(inside.values()), None)
    return first if isinstance(first, str) and first else number
