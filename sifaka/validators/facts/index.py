"""The facts of a text, to look up those of another in."""

from collections import defaultdict
from fractions import Fraction
from functools import cached_property
from typing import cast

from sifaka.validators import verbatim
from sifaka.validators.facts.allowance import Allowance
from sifaka.validators.facts.fact import Fact, Key
from sifaka.validators.facts.reading import Reading
from sifaka.validators.facts.units import KELVIN, POUND

_SHARE = Fraction(3, 100)
"""The share by which a converted measure may be off, for its rounding."""
_ROUNDED = Fraction(6, 100)
_DEGREES = 1


class Index:
    """The facts of a text by what they say.

    Args:
        reading: The facts.
    """

    def __init__(self, reading: Reading) -> None:
        self.by_dimension: dict[str, list[Fraction]] = defaultdict(list)
        """The values of each unit, in its base unit."""
        self.strange: frozenset[str] = frozenset()
        """Units of which the rewrite has new values: there a bare number does not do."""
        self._keys: dict[str, set[Key]] = defaultdict(set)
        self._plain: set[Fraction] = set()
        self._with_unit: dict[Fraction, set[str]] = defaultdict(set)
        self._days: set[int] = set()
        self._months: set[int] = set()
        self._years: set[int] = set()
        self._hours: set[int] = set()
        for fact in reading.facts:
            self._keys[fact.kind].update(fact.keys)
            if fact.kind == "number" and not fact.coded:
                self._add_number(fact)
            elif fact.kind == "date":
                self._add_date(fact)
            elif fact.kind == "time":
                times = cast("tuple[tuple[int, int], ...]", fact.keys)
                self._hours.update(hour for hour, minute in times if not minute)
        self._text = reading.text

    @cached_property
    def _flat(self) -> str:
        return verbatim.flat(self._text).casefold()

    def _add_number(self, fact: Fact) -> None:
        for dimension, base in cast("tuple[tuple[str, Fraction], ...]", fact.keys):
            self.by_dimension[dimension].append(base)
            if not fact.unit:
                self._plain.add(base)
        if fact.unit and fact.value is not None:
            self._with_unit[fact.value].add(fact.unit)

    def _add_date(self, fact: Fact) -> None:
        for key in fact.keys:
            if len(key) == 3:
                for known, part in zip((self._years, self._months, self._days), key, strict=True):
                    if isinstance(part, int):
                        known.add(part)

    def has(self, fact: Fact, allowed: Allowance) -> bool:
        """True when the text has a fact of another text, in any form.

        Args:
            fact: The fact.
            allowed: The conversions that count as the same.
        """
        if any(key in self._keys[fact.kind] for key in fact.keys):
            return True
        match fact.kind:
            case "number":
                return (
                    self._has_code(fact, allowed) if fact.coded else self._has_number(fact, allowed)
                )
            case "date":
                return self._has_date(fact)
            case "time":
                return self._has_time(fact)
            case "quote":
                # Marks around words that were there are no new quotation.
                return allowed.translates or str(fact.keys[0][0]) in self._flat
            case "code":
                return str(fact.keys[0][0]).casefold() in self._flat
            case _:
                return False

    def _has_number(self, fact: Fact, allowed: Allowance) -> bool:
        value = fact.value
        assert value is not None, "only codes have no value"
        keys = cast("tuple[tuple[str, Fraction], ...]", fact.keys)
        if not fact.unit:
            if any(base in self._plain for _, base in keys):
                return True
            if self._with_unit.get(value, set()) - self.strange:
                return True
            if value.denominator == 1:
                whole = int(value)
                near = {whole, whole + 12} & self._hours
                if near or whole in self._days or whole in self._years:
                    return True
                if allowed.translates and whole in self._months:
                    return True
        elif value in self._plain and fact.unit not in self.strange:
            return True
        if fact.unit == "time" and value in self._hours:
            return True  # 18 h may be a time of day
        if "units" in allowed.converts:
            return any(self._near(*key, _SHARE) for key in keys)
        if "rounded" in allowed.converts:
            return any(self._near(*key, _ROUNDED) for key in keys)
        other = {"pound": ("gbp",), "gbp": ("pound",)}.get(fact.unit, ())
        return any(value in self.by_dimension[unit] for unit in other)

    def _has_code(self, fact: Fact, allowed: Allowance) -> bool:
        kind, code = str(fact.keys[0][0]), str(fact.keys[0][1])
        if kind == "roman" and allowed.translates:  # Paul II is Paolo II
            known = (key for key in self._keys["number"] if key[0] == kind)
            return any(key[-1] == fact.keys[0][-1] for key in known)
        return kind == "code" and len(code) > 3 and not code.isdigit() and code in self._flat

    def _near(self, dimension: str, base: Fraction, share: Fraction) -> bool:
        if dimension == KELVIN:
            return any(abs(each - base) <= _DEGREES for each in self.by_dimension[KELVIN])
        if dimension == "pound":
            return self._near("mass", base * POUND, share)
        near = list(self.by_dimension[dimension])
        if dimension == "mass":
            near += [each * POUND for each in self.by_dimension["pound"]]
        return any(abs(each - base) <= share * max(abs(each), abs(base)) for each in near)

    def _has_date(self, fact: Fact) -> bool:
        words = not any(character.isdigit() for character in fact.shown)
        if words and fact.shown.casefold() in self._flat:
            return True
        for key in fact.keys:
            if len(key) != 3:
                continue
            if any(len(other) == 3 and _agree(key, other) for other in self._keys["date"]):
                return True
            year, month, day = cast("tuple[int | None, int, int | None]", key)
            # `2 to 9 February` has the day of one date without its month.
            known = year is None or year in self._years or year in self._plain
            if known and month in self._months and (day is None or day in self._plain):
                return True
        return False

    def _has_time(self, fact: Fact) -> bool:
        times = cast("tuple[tuple[int, int], ...]", fact.keys)
        hours = {hour for hour, minute in times if not minute}
        return any(
            hour % 12 in self._plain or hour in self._plain or Fraction(hour) in self._with_unit
            for hour in hours
        )


def _agree(one: Key, other: Key) -> bool:
    """True when two dates say the same as far as both say it."""
    if one[1] != other[1]:
        return False
    if one[2] != other[2] and None not in (one[2], other[2]):
        return False
    return one[0] == other[0] or None in (one[0], other[0])
