"""JSON: parsed strictly, and checked against a schema."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, cast

from sifaka.record.results import ValidationResult
from sifaka.text.prose import Span
from sifaka.validators.format.json_repair import repaired
from sifaka.validators.format.outcome import (
    Malformed,
    malformed_result,
    schema_result,
)
from sifaka.validators.format.schema import Json, Path, violations

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def check_json(text: str, schema: Mapping[str, object] | None) -> ValidationResult:
    """Check that the text is one JSON value, and one the schema allows.

    A text that can be repaired without loss gets one issue over its whole length with the repaired
    text as a safe fix.
    """
    try:
        value = parse(text)
    except Malformed as problem:
        fix = _safe_repair(text, schema)
        advice = _advice(text) if fix is None else "apply the repair"
        return malformed_result("JSON", text, problem, advice=advice, fix=fix)
    return schema_result("JSON", schema, value, text, lambda path: locate(text, path))


def parse(text: str) -> Json:
    """The value of a JSON text, after the letter of RFC 8259: NaN and Infinity are not JSON.

    Raises:
        Malformed: It is not JSON, or too deep or too long for this parser.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Malformed(error.msg[:1].lower() + error.msg[1:], error.pos) from None
    except RecursionError:
        raise Malformed("it is nested too deeply", 0) from None
    except ValueError as error:
        # A constant from below, or an integer of more digits than Python converts.
        name = str(error)
        if name in {"NaN", "Infinity", "-Infinity"}:
            raise Malformed(f"{name} is not JSON", max(0, text.find(name))) from None
        raise Malformed("a number has too many digits", 0) from None


def locate(text: str, path: Path) -> Span | None:
    """The place of the value at a path in a valid JSON text."""
    at = _skip(text, 0)
    for step in path:
        # Of a key that is given twice the last value counts.
        places = dict(_members(text, at))
        if step not in places:
            return None
        at = places[step]
    return at, _DECODER.raw_decode(text, at)[1]


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _members(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """The keys or indexes of the object or array that begins at `at`, and where their values are.

    There are none of another value.
    """
    if text[at] not in "{[":
        return
    is_object, at = text[at] == "{", _skip(text, at + 1)
    for index in count():
        if text[at] in "]}":
            return
        key: str | int = index
        if is_object:
            key, at = cast("tuple[str, int]", _DECODER.raw_decode(text, at))
            at = _skip(text, _skip(text, at) + 1)
        yield key, at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _safe_repair(text: str, schema: Mapping[str, object] | None) -> str | None:
    """The repaired text, if it is one that passes."""
    fix = repaired(text)
    if fix is None:
        return None
    try:
        value = parse(fix)
        wrong: Sequence[object] = violations(schema, value) if schema is not None else ()
    except (ValueError, TimeoutError):
        return None
    return None if wrong else fix


def _advice(text: str) -> str:
    if text.lstrip()[:1] not in tuple("{["):
        return "write the JSON value alone, with no text around it"
    return "correct the syntax at that place"
