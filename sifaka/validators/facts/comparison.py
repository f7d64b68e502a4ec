"""Comparison of the facts of a text with those of its rewrite."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sifaka.validators import verbatim
from sifaka.validators.facts.allowance import NOTHING, Allowance
from sifaka.validators.facts.contexts import Places
from sifaka.validators.facts.fact import Fact, Kind
from sifaka.validators.facts.reading import Reading, names_of, read
from sifaka.validators.facts.vocabulary import KELVIN, is_money

_SHARE = Fraction(3, 100)
"""The share by which a converted measure may be off, for its rounding."""
_ROUNDED = Fraction(6, 100)
_DEGREES = 1
_ALIKE = 4
"""Letters with which a name and a word from it begin, as in Italy and Italian."""
What = Literal["lost", "changed", "new", "moved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact that a rewrite does not have as the text has it."""

    what: What
    kind: Kind
    before: str = ""
    """The words of the text; empty for a new fact."""
    after: str = ""
    """The words of the rewrite; empty for a lost one."""
    start: int | None = None
    """Its place in the rewrite, where it has one."""
    end: int | None = None

    @property
    def message(self) -> str:
        """The difference in words."""
        noun = "URL" if self.kind == "url" else self.kind
        match self.what:
            case "lost":
                return f"{noun} lost: {self.before}"
            case "new":
                return f"{noun} that the original has not: {self.after}"
            case "changed":
                return f"{self.before} became {self.after}"
            case "moved":
                return f"{self.before} and {self.after} changed places"


def compare(original: str, text: str, task: str = "", allowed: Allowance = NOTHING) -> tuple[Difference, ...]:
    """The facts of the original that the text changes, loses or invents against its task.

    Takes time that grows with the length of both.

    Args:
        original: The text that the work began with.
        text: The rewrite.
        task: The task in words; facts that it names may appear.
        allowed: The changes that the task asks for.
    """
    if original == text:
        return ()
    before = read(original)
    after = read(text, "" if allowed.translates else before.language)
    given = read(task, "en") if task else None
    return tuple(_differences(before, after, given, task, allowed))


def _differences(
    before: Reading, after: Reading, given: Reading | None, task: str, allowed: Allowance
) -> Iterator[Difference]:
    old, new = _Index(before), _Index(after)
    told = _Index(given) if given else None
    old.strange = new.strange = frozenset(
        dimension
        for dimension, bases in new.by_dimension.items()
        if dimension and not set(bases) <= set(old.by_dimension.get(dimension, ()))
    )
    lost = [f for f in before.facts if not new.has(f, allowed)]
    invented = [f for f in after.facts if not old.has(f, allowed, back=True)]
    old_names: tuple[Fact, ...] = ()
    new_names: tuple[Fact, ...] = ()
    if not {"name"} <= allowed.lose & allowed.add:
        old_names, new_names, names_lost, names_new = _names(before, after, task)
        lost += names_lost
        invented += names_new
    gone = [f for f in lost if not _may_go(f, allowed, told, task)]
    come = [f for f in invented if not _may_come(f, allowed, told)]
    yield from _paired(gone, come)
    if allowed.translates:
        return
    places = Places(before, after, (*before.facts, *old_names), (*after.facts, *new_names))
    for first, second in places.moved():
        yield Difference(what="moved", kind=first.kind, before=first.shown, after=second.shown)
    if gone or come or allowed.replaces or allowed.converts:
        return
    # Facts may go and others come, but none may take the place of another.
    for one, other in places.replaced(lost, invented):
        yield _changed(one, other)
    for one, other in places.taken_over(lost):
        yield Difference(what="changed", kind=one.kind, before=one.shown, after=other.shown)


def _changed(one: Fact, other: Fact) -> Difference:
    return Difference(what="changed", kind=one.kind, before=one.shown, after=other.shown,
                      start=other.start, end=other.end)  # fmt: skip


def _may_go(fact: Fact, allowed: Allowance, told: "_Index | None", task: str) -> bool:
    if fact.weak:
        return False
    if allowed.replaces and told is not None and (told.has(fact, allowed) or _in(fact, task)):
        return True
    if fact.kind not in allowed.lose:
        return "money" in allowed.converts and fact.kind == "number" and is_money(fact.unit)
    if fact.kind != "number":
        return True
    return not (allowed.measures_stay and fact.unit or allowed.counts_stay and not fact.coded)


def _may_come(fact: Fact, allowed: Allowance, told: "_Index | None") -> bool:
    if fact.kind in allowed.add or (told is not None and told.has(fact, allowed)):
        return True
    if "name" in allowed.add and fact.coded and len(fact.shown) <= 4 and not allowed.translates:
        return True  # a placeholder such as P1
    return "money" in allowed.converts and fact.kind == "number" and is_money(fact.unit)


def _in(fact: Fact, task: str) -> bool:
    return fact.shown.casefold() in task.casefold()


def _paired(lost: Sequence[Fact], invented: Sequence[Fact]) -> Iterator[Difference]:
    """The differences; a lost fact and a new one of the same kind are one change."""
    left = [f for f in invented if not f.weak]
    weak = [f for f in invented if f.weak]
    waiting: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in reversed(left):
        waiting[fact.kind, fact.unit].append(fact)
    used: set[int] = set()
    for fact in lost:
        queue = waiting.get((fact.kind, fact.unit)) or ()
        other = queue.pop() if queue else None
        if other is None and fact.weak and weak:
            other = weak.pop(0)
        if other is not None:
            used.add(id(other))
            yield _changed(fact, other)
        elif not fact.weak:
            yield Difference(what="lost", kind=fact.kind, before=fact.shown)
    for fact in left:
        if id(fact) not in used:
            yield Difference(what="new", kind=fact.kind, after=fact.shown, start=fact.start, end=fact.end)


class _Index:
    """The facts of a text, to look up others in."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.keys: dict[str, set[object]] = defaultdict(set)
        self.plain: set[object] = set()
        self.by_dimension: dict[object, list[Fraction]] = defaultdict(list)
        self.strange: frozenset[object] = frozenset()
        """Units of which the rewrite has new values: there a number without its unit does not do."""
        self.with_unit: dict[object, set[str]] = defaultdict(set)
        self.days: set[int] = set()
        self.months: set[int] = set()
        self.years: set[int] = set()
        self.hours: set[int] = set()
        for fact in reading.facts:
            self.keys[fact.kind].update(fact.keys)
            if fact.kind == "number" and not fact.coded:
                self._add_number(fact)
            elif fact.kind == "date":
                self._add_date(fact)
            elif fact.kind == "time":
                self.hours.update(key[0] for key in fact.keys if key[1] == 0)  # type: ignore[misc]
        self.flat = verbatim.flat(reading.text).casefold()

    def _add_number(self, fact: Fact) -> None:
        for key in fact.keys:
            dimension, base = key
            self.by_dimension[dimension].append(base)  # type: ignore[arg-type]
        if fact.unit:
            self.with_unit[fact.value].add(fact.unit)
        else:
            self.plain.update(key[1] for key in fact.keys)

    def _add_date(self, fact: Fact) -> None:
        for key in fact.keys:
            if len(key) == 3:
                year, month, day = key
                self.years |= {year} if isinstance(year, int) else set()
                self.months |= {month} if isinstance(month, int) else set()
                self.days |= {day} if isinstance(day, int) else set()

    def has(self, fact: Fact, allowed: Allowance, *, back: bool = False) -> bool:
        """True when the text has the fact in any form.

        Args:
            fact: A fact of another text.
            allowed: The conversions that count as the same.
            back: True when the fact is from the rewrite.
        """
        known = self.keys[fact.kind]
        if any(key in known for key in fact.keys):
            return True
        match fact.kind:
            case "number":
                return self._has_number(fact, allowed)
            case "date":
                return self._has_date(fact, allowed)
            case "time":
                return self._has_time(fact)
            case "quote":
                # Marks around words that were there are no new quotation.
                return allowed.translates or str(fact.keys[0][0]) in self.flat
            case "code":
                return " ".join(str(fact.keys[0][0]).split()).casefold() in self.flat
            case "url":
                return False
            case _:
                return False

    def _has_number(self, fact: Fact, allowed: Allowance) -> bool:
        if fact.coded:
            return bool(fact.keys) and self._has_code(fact)
        value = fact.value
        if not fact.unit:
            if any(key[1] in self.plain for key in fact.keys):
                return True
            if self.with_unit.get(value, set()) - self.strange:
                return True
        elif value in self.plain and fact.unit not in self.strange:
            return True
        if fact.unit == "time" and value in self.hours:
            return True  # 18 h may be a time of day
        if value is not None and value.denominator == 1 and not fact.unit:
            whole = int(value)
            if whole in self.days or whole in self.years or (whole in self.hours or whole + 12 in self.hours):
                return True
        if "units" in allowed.converts:
            return any(self._near(*key, _SHARE) for key in fact.keys)  # type: ignore[misc]
        if "rounded" in allowed.converts:
            return any(self._near(*key, _ROUNDED) for key in fact.keys)  # type: ignore[misc]
        pounds = {"pound": ("gbp", "mass"), "gbp": ("pound",), "mass": ("pound",)}
        for other in pounds.get(fact.unit, ()):
            if any(base == value for base in self.by_dimension[other]):
                return True
        return False

    def _has_code(self, fact: Fact) -> bool:
        return str(fact.keys[0][1]) in self.flat if fact.keys[0][0] == "code" and len(str(fact.keys[0][1])) > 3 and not str(fact.keys[0][1]).isdigit() else False

    def _near(self, dimension: object, base: Fraction, share: Fraction) -> bool:
        if dimension == KELVIN:
            return any(abs(each - base) <= _DEGREES for each in self.by_dimension[KELVIN])
        if dimension in {"pound"}:
            return self._near("mass", base * Fraction(45359237, 100000), share)
        near = self.by_dimension[dimension]
        if dimension == "mass":
            near = near + [each * Fraction(45359237, 100000) for each in self.by_dimension["pound"]]
        return any(abs(each - base) <= share * max(abs(each), abs(base)) for each in near)

    def _has_date(self, fact: Fact, allowed: Allowance) -> bool:
        if not any(c.isdigit() for c in fact.shown) and fact.shown.casefold() in self.flat:
            return True
        for key in fact.keys:
            if len(key) == 2:
                continue
            year, month, day = key
            for other in self.keys["date"]:
                if len(other) == 3 and _agree(key, other):  # type: ignore[arg-type]
                    return True
            day_known = day is None or day in self.days or Fraction(day) in self.plain  # type: ignore[arg-type]
            year_known = year is None or year in self.years or Fraction(year) in self.plain  # type: ignore[arg-type]
            composed = day is not None and Fraction(day) in self.plain  # type: ignore[arg-type]
            if month in self.months and day_known and year_known and (composed or day is None):
                return True
        return False

    def _has_time(self, fact: Fact) -> bool:
        hours = {hour for hour, minute in fact.keys if minute == 0}  # type: ignore[misc]
        return any(Fraction(h % 12 or 12) in self.plain or Fraction(h) in self.plain or Fraction(h) in self.with_unit for h in hours)  # type: ignore[operator]


def _agree(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """True when two dates say the same as far as both say it."""
    if one[1] != other[1]:
        return False
    if one[2] != other[2] and None not in (one[2], other[2]):
        return False
    return one[0] == other[0] or None in (one[0], other[0])


def _names(
    before: Reading, after: Reading, task: str
) -> tuple[tuple[Fact, ...], tuple[Fact, ...], list[Fact], list[Fact]]:
    """The names of both texts, those that are lost, and those that are new."""
    old = names_of(before, _words(names_of(after)))
    new = names_of(after, _words(old))
    in_new, in_old = _vocabulary(after.text), _vocabulary(before.text)
    asked = _vocabulary(task)
    invented = [f for f in new if not f.weak and not _known(f, in_old, asked)]
    lost = [f for f in old if not f.weak and not _kept(f, in_new, bool(invented))]
    return old, new, _once(lost), _once(invented)


def _words(found: Iterable[Fact]) -> frozenset[str]:
    return frozenset(word for fact in found if not fact.weak for word in fact.keys[0] if isinstance(word, str))


def _vocabulary(text: str) -> frozenset[str]:
    import re

    found: set[str] = set()
    for match in re.finditer(r"[^\W_]+(?:[-’'][^\W\d_]+)*", text):
        word = match.group().lower()
        found |= {word, re.sub(r"['’]s?$", "", word), *re.split(r"[-’']", word)}
    return frozenset(found | {w[:-1] for w in found if w.endswith("s") and len(w) > 3})


def _kept(name: Fact, words: frozenset[str], fresh: bool) -> bool:
    parts = [str(p) for p in name.keys[0]]
    if not parts:
        return True
    if _has_word(parts[-1], words) or _is_derived(parts[-1], words):
        return True
    return not fresh and any(_has_word(p, words) for p in parts)


def _has_word(word: str, words: frozenset[str]) -> bool:
    if word in words or word.rstrip("s") in words or f"{word}s" in words:
        return True
    return "-" in word and all(p in words for p in word.split("-"))


def _known(name: Fact, words: frozenset[str], asked: frozenset[str]) -> bool:
    for part in name.keys[0]:
        word = str(part)
        if _has_word(word, words) or _has_word(word, asked):
            continue
        if _is_derived(word, words):
            continue
        return False
    return True


def _is_derived(word: str, words: frozenset[str]) -> bool:
    if len(word) < _ALIKE:
        return False
    return any(w[:_ALIKE] == word[:_ALIKE] and w != word and _derived(w, word) for w in words)


def _derived(one: str, other: str) -> bool:
    """True for Italy and Italian, not for Brandt and Brander: the shorter leads the longer."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short[: max(_ALIKE, len(short) - 1)]) and len(long) - len(short) >= 1


def _once(found: Iterable[Fact]) -> list[Fact]:
    return list({fact.keys[0]: fact for fact in found}.values())
