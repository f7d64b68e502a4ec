"""Fitting what a model sent into a form: coerce what is certain, prune what is not."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from sifaka.models.json_objects import strict
from sifaka.models.word_forms import normal, same

Answer = TypeVar("Answer", bound=BaseModel)

_ROUNDS = 12
"""Bounds the mending: what a form nests is less deep than this."""
_DROP = object()
_QUOTED = re.compile(r"'([^']*)'")


class Form(BaseModel):
    """What a model fills in. Numbers in it are finite."""

    model_config = ConfigDict(allow_inf_nan=False)


class Misfit(ValueError):
    """What was sent cannot be read as the form; the message says why, in a few words."""


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
    in capitals. A bad item of a list is left out, and a bad field takes its default.

    Raises:
        Misfit: A field that the form requires is missing or cannot be read.
    """
    data = _named(sent, form)
    for _ in range(_ROUNDS):
        try:
            return form.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
        lists: dict[int, list[object]] = {}
        for detail in details:
            _mend(data, detail, lists, form)
        for items in lists.values():
            items[:] = [item for item in items if item is not _DROP]
    raise Misfit("its fields do not fit together")


def _named(sent: Mapping[str, object], form: type[BaseModel]) -> dict[str, object]:
    """A copy of what was sent, with the names of the form's fields spelled as the form does.

    A field that comes twice with different values is missing: nobody can tell which one counts.
    """
    data: dict[str, object] = {}
    unclear: set[str] = set()
    for key, value in sent.items():
        name = normal(key).replace(" ", "_").replace("-", "_")
        name = name if name in form.model_fields else key
        if name in data and not same(data[name], value):
            unclear.add(name)
        data[name] = value
    return {name: value for name, value in data.items() if name not in unclear}


def _mend(
    data: dict[str, object],
    detail: ErrorDetails,
    lists: dict[int, list[object]],
    form: type[BaseModel],
) -> None:
    """Coerce or take out the value that one error is about.

    Raises:
        Misfit: It is the form itself or a field that must be there.
    """
    nodes, path = _walk(data, detail["loc"])
    value = nodes[-1]
    if value is _DROP:
        return
    put = _DROP if detail["type"] == "missing" else _coerced(detail, value)
    field = form.model_fields.get(str(detail["loc"][0])) if detail["loc"] else None
    required = field is None or field.is_required()
    if len(nodes) == 1 or (len(nodes) == 2 and put is _DROP and required):
        where = "".join(f"{part}: " for part in detail["loc"])
        raise Misfit((where + detail["msg"].removeprefix("Value error, "))[:200])
    holder, key = nodes[-2], path[-1]
    if isinstance(holder, list):
        items = cast("list[object]", holder)
        items[cast("int", key)] = put
        lists[id(items)] = items
    elif put is _DROP:
        cast("dict[object, object]", holder).pop(key, None)
    else:
        cast("dict[object, object]", holder)[key] = put


def _walk(
    data: dict[str, object], location: Sequence[int | str]
) -> tuple[list[object], list[int | str]]:
    """The values along an error's path as far as they exist, and that part of the path."""
    nodes: list[object] = [data]
    path: list[int | str] = []
    for part in location:
        node = nodes[-1]
        if isinstance(node, dict) and part in node:
            nodes.append(cast("dict[object, object]", node)[part])
        elif isinstance(node, list) and isinstance(part, int):
            nodes.append(cast("list[object]", node)[part])
        else:
            break
        path.append(part)
    return nodes, path


def _coerced(detail: ErrorDetails, value: object) -> object:
    """The value as what was wanted, or `_DROP` when that is not certain."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in {"list_type", "tuple_type"}:
        inner = _decoded(value, "[")
        return inner if inner is not _DROP else [value] if _one_item(value) else _DROP
    if kind in {"dict_type", "model_type", "model_attributes_type"}:
        return _decoded(value, "{")
    if kind == "literal_error" and isinstance(value, str):
        choices = _QUOTED.findall(str(context.get("expected")))
        return next((c for c in choices if normal(c) == normal(value)), _DROP)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _DROP
    if kind == "string_type":
        return str(value)
    if isinstance(value, int) and kind in {"greater_than_equal", "less_than_equal"}:
        return context.get("ge", context.get("le", _DROP))
    return _DROP


def _one_item(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value.strip() != "")


def _decoded(value: object, opening: str) -> object:
    """JSON that was put into a string, or `_DROP`."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return _DROP
    try:
        return strict(value)
    except (ValueError, RecursionError):
        return _DROP
