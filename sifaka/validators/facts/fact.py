"""One fact of a text: a number, a date, a name, and so on."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["number", "date", "time", "url", "email", "code", "quote", "name"]
KINDS: tuple[Kind, ...] = (
    "number", "date", "time", "url", "email", "code", "quote", "name",
)  # fmt: skip
Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact at its place in a text."""

    kind: Kind
    shown: str
    """Its words as they stand in the text."""
    start: int
    end: int
    keys: tuple[Key, ...]
    """Its readings: two facts of a kind are the same when they share one."""
    value: Fraction | None = None
    """The value of a number as it is written, its unit left out."""
    unit: str = ""
    """The dimension of the number's unit; empty without one."""
    weak: bool = False
    """True when a rewrite may leave it out, or use it, without a fact being lost: a small number in
    words, which may only count what is listed anyway."""
    coded: bool = False
    """True for digits that name something: a telephone number, a version, an identifier."""
