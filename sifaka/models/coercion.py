"""Fitting an object that a model sent into a form: coerce what is certain, prune the rest."""

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from sifaka.models.json_objects import normal, strict, unambiguous

Answer = TypeVar("Answer", bound=BaseModel)

_ROUNDS = 12
"""Bounds the mending: forms nest less deeply than this."""
_DROP: Any = object()
_QUOTED = re.compile(r"'([^']*)'")


class Form(BaseModel):
    """An answer that a model fills in. Numbers in it are finite, and words may be numbers."""

    model_config = ConfigDict(allow_inf_nan=False, coerce_numbers_to_str=True)


class Unreadable(ValueError):
    """A reply is not the form; the message says why, in words the model may be told."""


def _no_boolean(value: object) -> object:
    # pydantic takes true for 1; a model that writes it has not given a number.
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


Number = Annotated[float, BeforeValidator(_no_boolean)]
Whole = Annotated[int, BeforeValidator(_no_boolean)]


def fit(sent: Mapping[str, object], form: type[Answer]) -> Answer:
    """The form that was sent, as far as it can be read with certainty.

    A number in a string is a number, one object is a list of it, a word of a choice may be spelled
    in capitals. A bad item of a list is left out, and a bad field takes its default. A field that
    comes twice with different values is missing.

    Raises:
        Unreadable: A field that the form requires is missing or cannot be read.
    """
    data = unambiguous((_name(key, form), value) for key, value in sent.items())
    for _ in range(_ROUNDS):
        try:
            return form.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        data = deepcopy(data)  # what was sent stays as it is
        mended: set[tuple[int | str, ...]] = set()
        for detail in reversed(details):  # from the end, as items of lists are taken out
            _mend(data, detail, form, mended)
    raise Unreadable("its fields do not fit together")


def _name(key: str, form: type[BaseModel]) -> str:
    name = normal(key).replace(" ", "_").replace("-", "_")
    return name if name in form.model_fields else key


def _mend(
    data: dict[str, Any],
    detail: ErrorDetails,
    form: type[BaseModel],
    mended: set[tuple[int | str, ...]],
) -> None:
    """Coerce or take out the value that one error is about.

    Raises:
        Unreadable: It is the form itself or a field that must be there.
    """
    if any(detail["loc"][:length] in mended for length in range(len(detail["loc"]) + 1)):
        return
    value: Any = data
    holder: Any = None
    path: tuple[int | str, ...] = ()
    for part in detail["loc"]:  # as far as it exists
        try:
            holder, value, path = value, value[part], (*path, part)
        except (KeyError, IndexError, TypeError):
            break
    put = _coerced(detail, value)
    field = form.model_fields.get(str(detail["loc"][0])) if detail["loc"] else None
    required = field is None or field.is_required()
    if not path or (len(path) == 1 and put is _DROP and required):
        where = "".join(f"{part}: " for part in detail["loc"])
        raise Unreadable((where + detail["msg"].removeprefix("Value error, "))[:200])
    mended.add(path)
    if put is _DROP:
        del holder[path[-1]]
    else:
        holder[path[-1]] = put


def _coerced(detail: ErrorDetails, value: object) -> object:
    """The value as the form wants it, or `_DROP` when that is not certain."""
    limits = detail.get("ctx", {})
    match detail["type"], value:
        case "list_type" | "tuple_type", str() if value.lstrip().startswith("["):
            return _decoded(value)
        case "list_type" | "tuple_type", dict():
            return [cast("object", value)]
        case "list_type" | "tuple_type", str() if value.strip():
            return [value]
        case "dict_type" | "model_type" | "model_attributes_type", str():
            return _decoded(value)
        case "literal_error", str():
            choices = _QUOTED.findall(str(limits.get("expected")))
            return next((c for c in choices if normal(c) == normal(value)), _DROP)
        case "greater_than_equal" | "less_than_equal", int() if not isinstance(value, bool):
            return limits.get("ge", limits.get("le", _DROP))
        case _:
            return _DROP


def _decoded(value: str) -> object:
    """JSON that was put into a string, or `_DROP`."""
    try:
        return strict(value)
    except (ValueError, RecursionError):
        return _DROP
