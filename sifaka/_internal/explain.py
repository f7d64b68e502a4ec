"""Explains a validation error in one line a caller can act on."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sifaka._internal.naming import closest, did_you_mean

_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a string",
    "list_type": "a list",
    "tuple_type": "a list",
    "sequence_str": "a list",
    "iterable_type": "a list",
    "is_instance_of": "{class}",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dataclass_type": "an object",
    "none_required": "null",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_short": "at least {min_length} items long",
    "too_long": "at most {max_length} items long",
}
"""The expected input by pydantic's error type; braces take the error's context."""

_MISMATCH = frozenset(
    {
        "string_type", "list_type", "tuple_type", "sequence_str", "dict_type", "mapping_type",
        "model_type", "none_required", "model_attributes_type", "dataclass_type",
        "is_instance_of", "int_type", "float_type", "bool_type",
    }
)  # fmt: skip
"""Errors that only say that this branch of a union was not the one meant."""

_FIELD = re.compile(r"[a-z_$][A-Za-z0-9_$-]*\Z")
_BUILTIN_LABELS = frozenset(
    {"str", "int", "float", "bool", "bytes", "dict", "list", "tuple", "set", "none", "any"}
)


def explain(error: ValidationError, root: str = "", *, tags: Collection[str] = ()) -> str:
    """One line: where in the input the first error is, what is wrong and what is allowed.

    Args:
        error: What pydantic raised.
        root: The path of the validated value in the caller's input, such as `validators`.
        tags: The discriminators of the unions in the model; pydantic puts them into the path of
            an error, where the caller's input has nothing of that name.

    Returns:
        Such as `validators[1].max_words: should be at least 0, not -3 (and 1 more)`.
    """
    errors = error.errors(include_url=False)
    group = _alternatives(errors)
    best = [detail for detail in group if detail["type"] not in _MISMATCH]
    chosen = max(best, key=lambda detail: len(detail["loc"])) if best else group[0]
    missing = [detail for detail in errors if detail["type"] == "missing"]
    if chosen["type"] == "missing" and len(missing) > 1:
        path = ", ".join(_path(root, detail["loc"], tags) for detail in missing)
        reason, more = "are missing", len(errors) - len(missing)
    else:
        path, more = _path(root, chosen["loc"], tags), len(errors) - len(group)
        reason = _reason([chosen] if best else group, tags)
    parts = (f"{path}:" if path else "", reason, f"(and {more} more)" if more else "")
    return " ".join(" ".join(parts).split())


def _alternatives(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """The first error, and those about the same value from the other branches of its union."""
    first = errors[0]
    labels = [at for at, part in enumerate(first["loc"]) if _is_label(part)]
    if not labels:
        return [first]
    prefix = first["loc"][: labels[0]]
    return [detail for detail in errors if detail["loc"][: len(prefix)] == prefix]


def _is_label(part: int | str) -> bool:
    """True when pydantic made this part of a path up: the name of a union's branch."""
    return isinstance(part, str) and (part in _BUILTIN_LABELS or not _FIELD.match(part))


def _path(root: str, location: Sequence[int | str], tags: Collection[str]) -> str:
    path, after_index = root, root.endswith("]")
    for part in location:
        if isinstance(part, int):
            path, after_index = f"{path}[{part}]", True
        elif not _is_label(part):
            if not (after_index and part in tags):
                path = f"{path}.{part}" if path else part
            after_index = False
    return path


def _reason(group: list[ErrorDetails], tags: Collection[str]) -> str:
    detail = group[0]
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a known option"
        case "union_tag_invalid":
            known = tags or str(context["expected_tags"]).replace("'", "").split(", ")
            hint = did_you_mean(str(context["tag"]), known)
            return f"unknown {_discriminator(context)} {_shorten_input(context['tag'])}; {hint}"
        case "union_tag_not_found":
            known = f"; known: {', '.join(tags)}" if tags else ""
            return f"{_discriminator(context)!r} is missing{known}"
        case "value_error":
            return str(context["error"])
        case _:
            expected = [_describe_type(each) for each in group]
            if any(phrase is None for phrase in expected):
                return detail["msg"].removeprefix("Input ")
            phrases = cast("list[str]", list(dict.fromkeys(expected)))
            return f"should be {' or '.join(phrases)}, not {_show_input(detail)}{_suggest(detail)}"


def _suggest(detail: ErrorDetails) -> str:
    """The allowed word that a misspelt one resembles, as a question."""
    if detail["type"] not in {"literal_error", "enum"} or not isinstance(detail["input"], str):
        return ""
    allowed = re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))
    similar = closest(detail["input"], allowed)
    return "" if similar is None else f"; did you mean {similar!r}?"


def _discriminator(context: Mapping[str, object]) -> str:
    return str(context["discriminator"]).replace("'", "").removesuffix("()")


def _describe_type(detail: ErrorDetails) -> str | None:
    template = _EXPECTED.get(detail["type"])
    return template.format(**detail.get("ctx", {})) if template else None


def _show_input(detail: ErrorDetails) -> str:
    if detail["type"] in {"too_short", "too_long"}:
        return str(detail.get("ctx", {}).get("actual_length", "more"))
    if detail["type"] in {"string_too_short", "string_too_long"}:
        return str(len(detail["input"]))
    return _shorten_input(detail["input"])


def _shorten_input(value: object) -> str:
    """A short form of the input in the words of JSON."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:39] + "…")
    if isinstance(value, int | float):
        return repr(value) if abs(value) < 10**30 else "a huge number"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, Sequence) else f"a {type(value).__name__}"
