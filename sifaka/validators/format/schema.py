"""JSON schemas of users, checked when given and run within bounds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple, cast

from sifaka.validators.regex import PATTERN_SECONDS, compile_pattern, shown

Json = Any
"""Any value of JSON."""
Path = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

SCHEMA_LIMIT = 100_000
"""The most characters of a schema."""
VIOLATION_LIMIT = 20
"""The most violations reported, the most relevant first."""
SEARCH_LIMIT = 500
"""The most violations that are collected."""


class Violation(NamedTuple):
    """A value that is not as the schema wants it."""

    path: Path
    reason: str

    @property
    def where(self) -> str:
        """The path in the notation of JSONPath, `$` being the whole."""
        return f"${_format_path(self.path)}"


def _format_path(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def check_schema(schema: str) -> None:
    """Pass a schema, as JSON, that can be used. The longest that may be takes about a second.

    Raises:
        ValueError: It is not valid, too long, has a broken pattern or refers to another document;
            says so in one line.
    """
    from referencing.exceptions import Unresolvable

    if len(schema) > SCHEMA_LIMIT:
        raise ValueError(f"{len(schema)} characters, at most {SCHEMA_LIMIT}")
    try:
        parsed = json.loads(schema)
        kind = _validator_class(parsed)
        for error in kind(kind.META_SCHEMA).iter_errors(parsed):
            raise ValueError(_path_prefix(tuple(error.absolute_path)) + _reason(error))
        _check_parts(parsed, ())
        _check_references(parsed)
    except Unresolvable as error:
        raise ValueError(
            f"{error.ref!r} is not within the schema, and nothing is fetched"
        ) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def violations(schema: Mapping[str, object], value: Json) -> list[Violation]:
    """The violations of a value, best explanation first, at most `VIOLATION_LIMIT`.

    It computes; a schema and a value from outside go through a worker process, which ends it.

    Raises:
        TimeoutError: A pattern in the schema took too long.
        ValueError: The schema refers to something that is not there, or to itself without end.
    """
    from referencing.exceptions import Unresolvable

    try:
        errors: list[Any] = list(islice(_make_validator(schema).iter_errors(value), SEARCH_LIMIT))
    except Unresolvable as error:
        raise ValueError(f"the schema refers to {error.ref!r}, which it does not hold") from None
    except RecursionError:
        raise ValueError("the schema or the value is nested too deeply") from None
    jsonschema = _jsonschema()
    errors.sort(key=jsonschema.exceptions.relevance, reverse=True)
    # Of a failed anyOf or oneOf, the branch that came nearest.
    nearest = (jsonschema.exceptions.best_match([error]) for error in errors[:VIOLATION_LIMIT])
    return list(
        dict.fromkeys(Violation(tuple(error.absolute_path), _reason(error)) for error in nearest)
    )


def schema_json(schema: Mapping[str, object]) -> str:
    """The schema as JSON; ValueError where that cannot be, or goes too deep."""
    try:
        return json.dumps(schema)
    except TypeError as error:  # YAML has dates and sets, which JSON has not
        raise ValueError(f"it holds what JSON cannot: {error}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _jsonschema() -> Any:
    """jsonschema, which is partly typed, imported when it is needed."""
    import jsonschema

    return jsonschema


def _validator_class(schema: Mapping[str, object]) -> Any:
    jsonschema = _jsonschema()
    return jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)


def _make_validator(schema: Mapping[str, object]) -> Any:
    """A validator that never fetches, and runs no pattern of the schema with `re`."""
    from referencing import Registry

    kind = _jsonschema().validators.extend(_validator_class(schema), _KEYWORDS)
    # Without its `$schema`, by which jsonschema would go back from a reference to its own class.
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    return kind(plain, registry=cast("Any", Registry)())


def _matches(pattern: str, text: str) -> bool:
    """True when a text matches a pattern, which is stopped when it takes too long."""
    return compile_pattern(pattern).search(text, timeout=PATTERN_SECONDS) is not None


def _pattern(validator: Any, pattern: str, instance: Json, schema: Json) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield _make_error(f"{shown(instance)} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Json], instance: Json, schema: Json
) -> Iterator[Any]:
    members = cast("dict[str, Json]", instance if isinstance(instance, dict) else {})
    for (pattern, subschema), (key, value) in product(patterns.items(), members.items()):
        if _matches(pattern, key):
            yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Json, instance: Json, schema: Mapping[str, Json]
) -> Iterator[Any]:
    members = cast("dict[str, Json]", instance if isinstance(instance, dict) else {})
    patterns = schema.get("patternProperties", {})
    extras = [
        key
        for key in members
        if key not in schema.get("properties", {})
        and not any(_matches(pattern, key) for pattern in patterns)
    ]
    if isinstance(allowed, dict):
        for key in extras:
            yield from validator.descend(members[key], allowed, path=key)
    elif not allowed and extras:
        listed = ", ".join(shown(key) for key in extras[:5])
        more = f" and {len(extras) - 5} more" if len(extras) > 5 else ""
        yield _make_error(f"has properties that the schema does not know: {listed}{more}")


def _unique_items(validator: Any, wanted: Json, instance: Json, schema: Json) -> Iterator[Any]:
    """As the library's, which compares each item with each other one."""
    if wanted and isinstance(instance, list):
        seen: set[str] = set()
        for at, item in enumerate(cast("list[Json]", instance)):
            # JSON Schema holds 1.0 and 1 to be the same number.
            unified = json.loads(json.dumps(item), parse_float=_read_number)
            key = json.dumps(unified, sort_keys=True)
            if key in seen:
                yield _make_error(f"item {at} repeats an earlier one", at)
                return
            seen.add(key)


_KEYWORDS = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
"""The keywords that could take too long as jsonschema has them."""


def _read_number(written: str) -> float:
    number = float(written)
    return int(number) if number.is_integer() else number


def _check_parts(part: object, path: Path) -> None:
    """Look at every pattern, and keep a second `$schema` out."""
    if isinstance(part, Mapping):
        members = cast("Mapping[str, object]", part)
        if path and isinstance(members.get("$schema"), str):
            raise ValueError(f"{_path_prefix(path)}$schema belongs at the top only")
        named = members.get("patternProperties")
        patterns: list[object] = [members.get("pattern")]
        if isinstance(named, Mapping):
            patterns += list(cast("Mapping[str, object]", named))
            if "unevaluatedProperties" in members:
                raise ValueError(
                    f"{_path_prefix(path)}unevaluatedProperties beside patternProperties "
                    "is not supported; use additionalProperties"
                )
        for pattern in patterns:
            if isinstance(pattern, str):
                try:
                    compile_pattern(pattern)
                except ValueError as error:
                    raise ValueError(f"{_path_prefix(path)}{error}") from None
        for key, value in members.items():
            _check_parts(value, (*path, key))
    elif isinstance(part, list | tuple):
        for at, value in enumerate(cast("Sequence[object]", part)):
            _check_parts(value, (*path, at))


def _check_references(schema: Mapping[str, object]) -> None:
    """Resolve every reference once."""
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    root = Resource[Any].from_contents(schema, default_specification=DRAFT202012)
    pending = [(Registry[Any]().resolver_with_root(root), root)]
    while pending:
        resolver, resource = pending.pop()
        contents = cast("object", resource.contents)
        members = cast("Mapping[str, object]", contents if isinstance(contents, Mapping) else {})
        reference = members.get("$ref")
        if isinstance(reference, str):
            resolver.lookup(reference)
        pending += [(resolver.in_subresource(sub), sub) for sub in resource.subresources()]


def _path_prefix(path: Path) -> str:
    return f"at {_format_path(path).removeprefix('.')}: " if path else ""


def _make_error(message: str, at: int | None = None) -> Any:
    return _jsonschema().ValidationError(message, path=() if at is None else (at,))


def _reason(error: Any) -> str:
    """The message of an error, on one line: a long value is cut, the reason at its end stays."""
    while error.context and error.message.endswith("under any of the given schemas"):
        error = error.context[0]
    message = str(error.message)
    if isinstance(error.instance, str):
        message = message.replace(repr(error.instance), shown(error.instance))
    if type(error.validator_value) in {int, float} and error.validator != "const":
        message += f" ({error.validator}: {error.validator_value})"
    line = " ".join(message.split())
    return line if len(line) <= 240 else f"{line[:100]} … {line[-130:]}"
