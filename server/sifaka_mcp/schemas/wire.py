"""Values of the library on the wire: the same fields by the same names, or by those told here."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field


class Wire(BaseModel):
    """A part of an answer; its fields are read from the value that it shows."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")

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
