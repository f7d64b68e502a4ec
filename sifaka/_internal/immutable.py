"""Values that never change: the frozen model every state type is built from."""

import copyreg
from collections.abc import Callable, Collection, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer

T = TypeVar("T")
_LONGEST = 40
"""Characters of a value that the `repr` of a model shows."""


class Frozen(BaseModel):
    """A pydantic model that cannot be changed after construction and knows all its fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        defer_build=True,  # a validator is built when it is first used, not when it is imported
    )

    def __hash__(self) -> int:
        return hash((type(self), *(_hash(getattr(self, name)) for name in type(self).model_fields)))

    def __repr__(self) -> str:
        """One short line: long values are cut, and of collections the size is shown."""
        text = ", ".join(f"{name}={_shorten(value)}" for name, value in self._repr_values().items())
        return f"{type(self).__name__}({text})"

    __str__ = __repr__

    def _repr_values(self) -> Mapping[str, object]:
        """The values in the `repr`, by name: those that are neither the default nor empty."""
        fields = type(self).model_fields
        values = {name: getattr(self, name) for name, field in fields.items() if field.repr}
        return {
            name: value
            for name, value in values.items()
            if value != fields[name].default and not _is_empty(value)
        }


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, Collection) and not value)


def _shorten(value: object) -> str:
    if isinstance(value, Frozen):
        return f"{type(value).__name__}(...)"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}...")
    if isinstance(value, Collection):
        return f"<{len(cast('Collection[object]', value))}>"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _read_only(values: dict[str, object]) -> MappingProxyType[str, object]:
    return MappingProxyType(values)


def _reduce(
    mapping: MappingProxyType[str, object],
) -> tuple[Callable[..., MappingProxyType[str, object]], tuple[dict[str, object]]]:
    return _read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _reduce)  # Python does not copy these by itself


def _hash(value: Any) -> int:
    """A hash for equal values; what has none of its own counts by its kind alone."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return hash(frozenset((key, _hash(item)) for key, item in members))
    if isinstance(value, tuple):
        return hash(tuple(map(_hash, cast("tuple[Any, ...]", value))))
    try:
        return hash(value)
    except TypeError:
        return hash(type(cast("object", value)))


_AS_IT_IS = frozenset({str, int, bool, type(None)})
"""Types of the most parts of a large object, which cost no call."""


def _freeze(value: object) -> object:
    """A read-only copy.

    Raises:
        ValueError: It holds what JSON cannot keep, and what would come back as something else.
    """
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        return tuple(i if type(i) in _AS_IT_IS else _freeze(i) for i in items)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        return MappingProxyType(
            {key: i if type(i) in _AS_IT_IS else _freeze(i) for key, i in members}
        )
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} cannot be kept as JSON; use a finite number, a string or None")
    if isinstance(value, str | int | float | None):
        return value
    kind = type(value).__name__
    raise ValueError(f"a {kind} cannot be kept as JSON; use a string, a list or a dict")


def thawed(value: object) -> Any:
    """The value with lists and dicts in the place of tuples and read-only mappings."""
    if isinstance(value, MappingProxyType | dict):
        members = cast("Mapping[str, object]", value).items()
        return {key: i if type(i) in _AS_IT_IS else thawed(i) for key, i in members}
    if isinstance(value, tuple):
        return [i if type(i) in _AS_IT_IS else thawed(i) for i in cast("tuple[object, ...]", value)]
    return value


FrozenJson = Annotated[
    Mapping[str, object],
    AfterValidator(_freeze),
    PlainSerializer(thawed, return_type=dict[str, object]),
]
"""A JSON object, read-only to its last level: lists become tuples, objects read-only mappings."""

FrozenMap = Annotated[
    Mapping[str, T],
    AfterValidator(MappingProxyType),
    PlainSerializer(dict, return_type=dict[str, T]),
]
"""A read-only mapping from names to values of one type."""
