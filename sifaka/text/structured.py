"""Texts that are data: JSON, YAML, CSV and tables, as values by their paths."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sifaka.text.notation import numeral_readings, shown_number

LONGEST = 200_000
"""Characters of a text that is read as data."""
_MOST_VALUES = 20_000
_DEEPEST = 40
_FENCE = re.compile(r"\A\s*(?:```|~~~)[^\n]{0,40}\n(.*?)\n?[ ]{0,3}(?:```|~~~)\s*\Z", re.DOTALL)
_RULE = re.compile(r"\s*\|?[ \t]*:?-[ \t:|-]*-?[ \t]*\|?\s*")
_HTML_ROW = re.compile(r"<tr\b[^>]{0,200}>(.{0,5000}?)</tr>", re.DOTALL | re.IGNORECASE)
_HTML_CELL = re.compile(r"<t[hd]\b[^>]{0,200}>(.{0,2000}?)</t[hd]>", re.DOTALL | re.IGNORECASE)
_KEY = re.compile(r"[\w./$@ -]{1,40}")
_NUMERAL = re.compile(r"-?\d[\d.,']*")

Path = tuple[str, ...]


def values_of(text: str) -> Mapping[Path, str] | None:
    """The values of a text that is data, by path; None of any other text.

    A row of a table, or an object in a list, has the name of its first value in a path; so the
    order of rows and keys does not count, nor do the case and the joints of keys.
    """
    if len(text) > LONGEST:
        return None
    if fenced := _FENCE.match(text):
        text = fenced[1]
    for parse in (_parse_json, _parse_table, _parse_csv, _parse_yaml):
        try:
            data = parse(text.strip())
        except (ValueError, RecursionError, csv.Error):
            data = None
        if data:
            found = dict(_flattened(data, (), 0))
            return found if 1 < len(found) < _MOST_VALUES else None
    return None


def comparable(value: str) -> str:
    """A value without the notation of its numbers and the case of its words."""
    bare = value.strip().strip("*_`\"'").casefold()
    if _NUMERAL.fullmatch(bare) and (readings := numeral_readings(bare.lstrip("-"))):
        return bare[: bare.startswith("-")] + "|".join(map(shown_number, readings))
    return "" if bare in {"null", "none", "~", "-"} else bare


def _parse_json(text: str) -> object:
    return json.loads(text) if text[:1] in "{[" else None


def _parse_table(text: str) -> object:
    rows = [_HTML_CELL.findall(row) for row in _HTML_ROW.findall(text)]
    if not rows:
        lines = text.split("\n")
        # A table in the middle of prose is no data as a whole.
        if (
            len(lines) < 3
            or not all("|" in line for line in lines)
            or not _RULE.fullmatch(lines[1])
        ):
            return None
        rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in (lines[0], *lines[2:])
        ]
    return _records(rows)


def _parse_csv(text: str) -> object:
    lines = text.split("\n")
    for mark in (",", ";", "\t"):
        width = lines[0].count(mark)
        if width and len(lines) > 1 and not lines[0].endswith((".", ",", ";")):
            rows = list(csv.reader(lines, delimiter=mark))
            spaced = text.count(f"{mark} ") > 0.5 * text.count(mark)
            if not spaced and all(len(row) == width + 1 for row in rows):
                return _records(rows)
    return None


def _parse_yaml(text: str) -> object:
    import yaml

    if not re.match(r"(?:---\s*\n|- )?[\"']?[\w./-]+[\"']?:(?:\s|\Z)", text):
        return None
    if re.search(r"^#{2,}[ ]|^[^:#\n]{30,}\.$", text, re.MULTILINE) or "\n" not in text:
        return None
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506, it only makes strings
    except yaml.YAMLError:
        return None


def _records(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    head = rows[0]
    return [dict(zip(head, row, strict=False)) for row in rows[1:]]


def _flattened(data: object, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(data, dict):
        for key, value in cast("dict[object, object]", data).items():
            yield from _flattened(
                value, (*path, re.sub(r"[\W_]+", "", str(key).casefold())), depth + 1
            )
    elif isinstance(data, list):
        seen: dict[str, int] = {}
        for n, value in enumerate(cast("list[object]", data)):
            inside = cast("dict[str, object]", value) if isinstance(value, dict) else {}
            first = next(iter(inside.values()), None)
            name = comparable(first) if isinstance(first, str) and first else str(n)
            seen[name] = seen.get(name, 0) + 1
            label = name if seen[name] == 1 else f"{name} {seen[name]}"
            yield from _flattened(cast("object", value), (*path, label), depth + 1)
    else:
        yield path, data if isinstance(data, str) else json.dumps(data)
