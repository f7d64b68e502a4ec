"""Values of the library on the wire; words of others among them are printed as theirs alone."""

from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Self

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field
from pydantic_core import CoreSchema, core_schema

from sifaka.models.prompt import frame
from sifaka_mcp.safe_text import flat, short

_LONGEST = "500"
_SPACED = 8
"""Characters of words whose spaces may be what they are about."""


class Wire(BaseModel, from_attributes=True, extra="ignore"):
    """A part of an answer; its fields are read from the value that it shows."""

    @classmethod
    def of(cls, value: object) -> Self:
        """The wire form of a value of the library."""
        return cls.model_validate(value)


def taken(name: str, *path: str, default: object = ...) -> Any:
    """A field that lies deeper in the value of the library."""
    return Field(default, validation_alias=AliasChoices(AliasPath(*path), name))


Moment = Annotated[
    str, BeforeValidator(lambda when: when.isoformat() if isinstance(when, datetime) else when)
]
"""A moment as ISO 8601 writes it."""
Relevance = Annotated[
    float, BeforeValidator(lambda score: float(f"{score:.4g}") if score is not None else score)
]
Score = Annotated[float, BeforeValidator(lambda score: round(score, 4))]


class _Words:
    """Words of others: no string, so that nothing prints them but by their type."""

    __slots__ = ("raw",)

    def __init__(self, raw: str) -> None:
        self.raw = raw
        """The words as they are, for a program."""

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __str__(self) -> str:
        return format(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        """Strings, as JSON has them."""
        text = core_schema.str_schema()
        words = core_schema.no_info_after_validator_function(cls, text)
        return core_schema.json_or_python_schema(
            json_schema=words,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), words]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                attrgetter("raw"), return_schema=text
            ),
        )


class Foreign(_Words):
    """Words of a text, a source or a caller: printed, they are in quotes that they cannot end.

    `f"{words:80}"` has at most 80 of their characters, `f"{words}"` at most 500.
    """

    __slots__ = ()

    def __format__(self, most: str) -> str:
        return repr(
            self.raw
            if len(self.raw) < _SPACED and "\n" not in self.raw
            else short(flat(self.raw), int(most or _LONGEST))
        )

    def framed(self, label: str) -> str:
        """The words with their lines, between marks that they cannot foresee."""
        return frame(label, self.raw)


class Remark(_Words):
    """What a rule, a critic or a library says of a text: printed, it stays on its line."""

    __slots__ = ()

    def __format__(self, most: str) -> str:
        line = flat(self.raw)
        return short(line, int(most)) if most else line
