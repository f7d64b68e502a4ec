"""What answers a difference without asking: the task, a rule, a source, arithmetic."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Literal

from sifaka.text.language import asks_for_translation, translation_into
from sifaka.text.limits import limit_spans
from sifaka.text.prose import blanked
from sifaka.text.side import (
    EMPTY,
    FIGURES,
    LANGUAGE_NAMES,
    Side,
    form_of,
    is_close,
    words_in,
)
from sifaka.text.statements import Statement, read

Kind = Literal[
    "number", "date", "money", "url", "code", "quote", "name", "language", "order", "scope",
    "length", "data", "dropped", "added", "small_edit", "not_entered",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One difference as it was measured, before it is answered."""

    kind: Kind
    before: str
    after: str
    asks: bool = True
    lost: Statement | None = None
    new: Statement | None = None
    unlike: bool = False
    """True where the new one stands in a sentence without a counterpart."""


def not_entered(task: str, old: Side, new: Side) -> Iterator[Change]:
    """The figures and addresses of the task that stand in neither text."""
    for asked in read(blanked(task, limit_spans(task))):
        figure = asked.kind in FIGURES | {"url"} and re.search(r"\d", asked.text)
        if figure and not (old.has(asked) or new.has(asked) or new.has_digits(asked)):
            yield Change("not_entered", asked.text, "", asks=False)


_VERBS = """
    change update correct fix replace move raise lower increase reduce round convert remove delete
    drop adjust set swap rename use fill postpone shift add sound shorten
    ändere aktualisiere korrigiere ersetze verschiebe erhöhe senke runde entferne lösche streiche
    ergänze change modifie corrige remplace déplace augmente baisse supprime enlève ajoute
    cambia actualiza corrige reemplaza mueve aumenta baja elimina quita añade
"""
_KIND_WORDS: Mapping[str, str] = {
    "date": "date time day weekday deadline year datum termin uhrzeit heure jour fecha hora día",
    "money": "price cost amount total preis betrag summe prix precio",
    "number": "number figure arithmetic total summe zahl chiffre cifra número",
    "url": "link url address lien enlace",
    "code": "code snippet",
    "quote": "quote quotation dialogue zitat citation cita",
    "name": "name spelling proofread typo",
    "example": "example beispiel exemple ejemplo",
    "added": "title headline heading hashtag sentence paragraph",
}
"""With the verbs the only words that are taken for a meaning; they may lower a question."""


class Answers:
    """What answers a difference without asking."""

    def __init__(
        self,
        task: str,
        sources: Sequence[str],
        failing: Sequence[tuple[int, int]],
        changes: Sequence[Change],
        original: Side,
    ) -> None:
        self._task, self._failing = Side(task), failing
        self._original = original
        entered = [change for change in changes if change.new and self._task.has(change.new)]
        self._entered = bool(entered)
        self._steps = {_step(change) for change in entered} - {None}
        self._sources = [Side(source) for source in sources]
        self._asked = _asked_kinds(task)

    def answer(self, change: Change) -> str:
        """`task`, `source`, `rule`, `arithmetic`, or nothing."""
        lost, new = change.lost, change.new
        if self._is_asked(change, lost, new) or _step(change) in self._steps:
            return "task"
        if new and not lost and _is_worked_out(new, self._original):
            return "arithmetic"
        if lost and any(0 <= at <= lost.start and lost.end <= at + n for at, n in self._failing):
            return "rule"
        return "source" if new and any(source.has(new) for source in self._sources) else ""

    def _is_asked(self, change: Change, lost: Statement | None, new: Statement | None) -> bool:
        vocabulary = self._task.vocabulary
        if change.kind == "language":
            targets = translation_into(f"translate {self._task.text}") or ()
            names = [LANGUAGE_NAMES.get(code, code) for code in targets]
            wanted = not names or change.after.split(" (")[0] in names
            return asks_for_translation(self._task.text) and wanted
        came = frozenset(words_in(change.after)) - frozenset(words_in(change.before))
        said = bool(came and came <= vocabulary)
        if change.kind == "data":
            label = frozenset(words_in((change.before or change.after).partition(":")[0]))
            return said or bool(label & vocabulary - EMPTY and "" in self._asked)
        # Step 3, where the task speaks of steps.
        label = new.value[:4] if new and new.kind == "name" and new.figures else "\0"
        close = change.kind != "name" or (lost and new and is_close(lost.value, new.value))
        return bool(
            (new and self._task.has(new, exact=True))
            or (said and lost)
            or label in self._task.text
            or (lost and self._task.has(lost) and ("" in self._asked or self._entered))
            or ((change.unlike or change.kind == "code") and "example" in self._asked)
            or (not lost and change.kind in FIGURES and "total" in self._asked)
            or (change.kind in self._asked and close)
        )


_PRIVATE = {"name", "date", "number", "url"}
"""The kinds that are left out where a text is made anonymous."""


def _amount(statement: Statement) -> float | None:
    """The figure in its unit, a time in seconds; None of what has several readings."""
    value, _, unit = statement.value.partition(" ")
    if clock := re.fullmatch(r"T(\d\d):(\d\d)", statement.value):
        return 3600.0 * int(clock[1]) + 60 * int(clock[2])
    figure = statement.kind in ("number", "money") and re.fullmatch(r"\d+(?:\.\d+)?", value)
    return float(value) if figure and "|" not in unit else None


def _step(change: Change) -> tuple[str, float] | None:
    """By what a figure was changed: its factor, or the seconds of a time."""
    lost, new = (each and _amount(each) for each in (change.lost, change.new))
    if not lost or not new or not change.lost or not change.new:
        return None
    if change.lost.value.startswith("T") != change.new.value.startswith("T"):
        return None
    by_time = change.new.value.startswith("T")
    return ("+", new - lost) if by_time else ("*", round(new / lost, 6))


_MOST_ADDED = 60
"""Figures of one form among which sums are looked for."""


def _is_worked_out(new: Statement, old: Side) -> bool:
    """True when a new figure is a sum or a difference of others, or the time between two."""
    amount, form = _amount(new), form_of(new)
    stated = [(_amount(s), form_of(s)) for s in old.statements[: 10 * _MOST_ADDED]]
    mine = [each for each, of in stated if each and of == form][:_MOST_ADDED]
    clock = [each for each, of in stated if each and of == "T" and form == "s"][:_MOST_ADDED]
    few = len(re.sub(r"\D", "", new.text).strip("0")) < 3
    if amount is None or form == "T":
        return False
    sums = [0.0, *accumulate(mine)]
    made = {abs(a - b) for a, b in combinations(clock, 2)}
    if not few:
        made |= {abs(a - b) for a, b in combinations(mine, 2)}
        made |= {a + b for a, b in combinations(mine, 2)}
        made |= {b - a for a, b in combinations(sums, 2)} - set(mine)
    return any(abs(amount - each) < 1e-6 * amount for each in made)


_CLAUSE = re.compile(r"[.;!?]+(?:\s|\Z)|\n|, (?=but|aber|mais|pero)")
_DENIED = re.compile(
    r"\b(?:not|never|no|without|nicht|kein\w*|ohne|ne|pas|sans|sin|keep)\b|n't\b", re.IGNORECASE
)


def _asked_kinds(task: str) -> frozenset[str]:
    """The kinds that a clause of the task asks to change, and "" where it has a verb of change."""
    kinds, denied, waiting = set[str](), set[str](), set[str]()
    for clause in _CLAUSE.split(task[:5000]):
        words = re.findall(r"[^\W\d_]+", clause.casefold())
        forms = {form for w in words for form in (w, w.removesuffix("s"), w.removesuffix("n"))}
        named = {kind for kind, listed in _KIND_WORDS.items() if forms & set(listed.split())}
        if _DENIED.search(clause):
            denied |= named
        elif forms & {"double", "triple", "halve"}:
            kinds |= {"", "number"}
        elif forms & set(_VERBS.split()):
            kinds |= {"", *named, *(waiting if forms & {"it", "them"} else ())}
        kinds |= {"name"} & named if forms & {"proofread", "spelling", "typo"} else set()
        kinds |= {"total"} & forms
        kinds |= _PRIVATE if forms & {"anonymise", "anonymize", "anonymisiere"} else set()
        waiting = named
    return frozenset(kinds - denied | (kinds & _PRIVATE if kinds >= _PRIVATE else set()))
