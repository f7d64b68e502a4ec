"""Values that never change: the frozen model every state type is built from."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer

T = TypeVar("T")


class Frozen(BaseModel):
    """A pydantic model that cannot be changed after construction and knows all its fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        defer_build=True,  # a validator is built when it is first used, not when it is imported
    )


def _freeze(value: object) -> object:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return MappingProxyType({key: _freeze(item) for key, item in items})
    if isinstance(value, list | tuple):
        return tuple(_freeze(item) for item in cast("list[object]", value))
    return value


def _thaw(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, tuple):
        return [_thaw(item) for item in cast("tuple[object, ...]", value)]
    return value


FrozenJson = Annotated[
    Mapping[str, object],
    AfterValidator(_freeze),
    PlainSerializer(_thaw, return_type=dict[str, object]),
]
"""A JSON object, read-only to its last level: lists become tuples, objects read-only mappings."""

FrozenMap = Annotated[
    Mapping[str, T],
    AfterValidator(lambda value: MappingProxyType(dict(value))),
    PlainSerializer(dict, return_type=dict[str, T]),
]
"""A read-only mapping from names to values of one type."""
