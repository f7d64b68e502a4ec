"""Paragraphs made of records: comma-separated values and lists of settings."""

import re
from collections.abc import Sequence

_BARE_HEADER = re.compile(
    r"\s*\"?\w[\w-]*\"?(?:(?P<mark>[,;|])\"?\w[\w-]*\"?)(?:(?P=mark)\"?\w[\w-]*\"?)*\s*$"
)
_QUOTED = re.compile(r"\"[^\"\n]*\"")
_PAIR = re.compile(r"\s*(?:- )?(?P<key>[A-Za-z_][\w./-]*)\s?(?P<mark>[:=])(?:\s+\S.*|\s*)$")
_SECTION = re.compile(r"\s*\[\[?[\w .:/\"-]+\]\]?\s*$")
_REMARK = re.compile(r"\s*[#;]")
_ITEM = re.compile(r"\s*- \S|\s{2,}\S")
_HTTP_KEY = re.compile(
    r"[A-Z][a-z]*(?:-[A-Z][a-z]*)+$|(?:From|To|Cc|Date|Subject|Host|Accept|Server)$"
)


def is_records(lines: Sequence[str]) -> bool:
    """True when all lines are data: values with separators, or keys with values."""
    return _are_values(lines) or _are_settings(lines)


def _are_values(lines: Sequence[str]) -> bool:
    head = _BARE_HEADER.match(lines[0])
    if head:
        mark = head["mark"]
        return all(mark in line for line in lines)
    for mark in ",;|":
        counts = {_fields(line, mark) for line in lines}
        if len(counts) != 1 or len(lines) < 2:
            continue
        (count,) = counts
        joined = [_QUOTED.sub('"', line) for line in lines]
        if count >= 2 and not any(f"{mark} " in line for line in joined):
            return True
        if count >= 3 and all(_is_short(line, mark) for line in joined):
            return True
    return False


def _fields(line: str, mark: str) -> int:
    return _QUOTED.sub("", line).count(mark) + 1


def _is_short(line: str, mark: str) -> bool:
    """True when no field is long enough for a clause."""
    fields = line.strip().split(mark)
    return line.rstrip()[-1:] not in {".", "!", "?", ":", ","} and all(
        len(field.split()) <= 2 for field in fields
    )


def _are_settings(lines: Sequence[str]) -> bool:
    pairs = [match for line in lines if (match := _PAIR.match(line))]
    sections = sum(bool(_SECTION.match(line)) for line in lines)
    others = [line for line in lines if not _PAIR.match(line) and not _SECTION.match(line)]
    if not pairs or len(pairs) + sections < 2:
        return False
    if not all(_REMARK.match(line) or _ITEM.match(line) for line in others):
        return False
    if len(pairs) + sections < len(others):
        return False
    keys = [match["key"] for match in pairs]
    if all(not key[0].isupper() or key.isupper() for key in keys):
        return True
    return any(match["mark"] == "=" for match in pairs) or any(map(_HTTP_KEY.match, keys))
