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


def _written(moment: object) -> object:
    return moment.isoformat() if isinstance(moment, datetime) else moment


def _or_empty(text: object) -> object:
    return "" if text is None else text


def _of_four_digits(score: object) -> object:
    return float(f"{score:.4g}") if isinstance(score, float) else score


def _of_four_places(score: object) -> object:
    return round(score, 4) if isinstance(score, float) else score


Moment = Annotated[str, BeforeValidator(_written)]
"""A moment as ISO 8601 writes it."""
Words = Annotated[str, BeforeValidator(_or_empty)]
"""Words; empty where there are none."""
Relevance = Annotated[float, BeforeValidator(_of_four_digits)]
Score = Annotated[float, BeforeValidator(_of_four_places)]
