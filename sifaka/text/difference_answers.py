"""What answers a difference without asking: the task, a rule, a source, arithmetic."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Literal

from sifaka.text.compared_text import (
    EMPTY,
    FIGURES,
    STEM,
    Side,
    form_of,
    is_close,
    stems_in,
    words_in,
)
from sifaka.text.language import LANGUAGE_NAMES, asks_for_translation, translation_into
from sifaka.text.limits import instruction_of, limit_spans, names_only
from sifaka.text.numbers_and_names import Statement
from sifaka.text.tables import patterns_of

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
    """True where the new one is in a sentence without a counterpart."""


_VERBS = """
    change update correct fix replace move raise lower increase reduce round convert remove delete
    drop adjust set swap rename use fill postpone shift add sound shorten anonymise anonymize
    ändere aktualisiere korrigiere ersetze verschiebe erhöhe senke runde entferne lösche streiche
    ergänze change modifie corrige remplace déplace augmente baisse supprime enlève ajoute
    cambia actualiza corrige reemplaza mueve aumenta baja elimina quita añade
"""
_KIND_WORDS: Mapping[str, str] = {
    "date": "date time day weekday deadline year datum termin uhrzeit heure jour fecha hora día",
    "money": "price cost amount total preis betrag summe prix precio",
    "number": "number figure arithmetic total summe zahl chiffre cifra número",
    "url": "link url address lien enlace anonymise anonymize",
    "code": "code snippet",
    "quote": "quote quotation dialogue zitat citation cita",
    "name": "name anonymise anonymize",
    "spelling": "spelling proofread typo",
    "example": "example beispiel exemple ejemplo",
    "added": "title headline heading hashtag sentence paragraph",
}
"""With the verbs the only words that are taken for a meaning; they may lower a question."""


_PATTERNS = patterns_of(__file__, "task")
_KNOWN, _NEAR = 0.34, 24
"""The share of a line's words below which a text does not have it; what is shown of one that it has
on each side of a figure, in characters."""


class Task:
    """What was asked for."""

    def __init__(self, text: str) -> None:
        self.side = Side(text)
        instruction = instruction_of(text)
        self.instruction = self.side if instruction == text else Side(instruction)
        """Without the material, whose figures are all to stay."""
        self.kinds = _find_kinds(instruction)
        self.is_narrow = "spelling" in self.kinds or names_only(text)
        """True where every edit is listed: mistakes alone, or one thing, were to be changed."""

    def not_entered(self, old: Side, new: Side) -> Iterator[Change]:
        """What of the task is in neither text: its figures, and the lines of its material."""
        text, spared = self.side.text, limit_spans(self.side.text)
        known_stems = frozenset(word[:STEM] for side in (old, new) for word in side.vocabulary)
        absent: dict[int, str] = {}
        for fact in self.side.statements:
            is_figure = fact.kind in FIGURES | {"url"} and re.search(r"\d", fact.text)
            known_here = any(start <= fact.start < end for start, end in spared) or old.has(fact)
            if is_figure and not (known_here or new.has(fact) or new.has_digits(fact)):
                absent[fact.start] = fact.text
        starts = sorted(absent)
        for line in _PATTERNS["line"].finditer(text if self.instruction is not self.side else ""):
            start, end = line.span()
            if self.instruction.text[start:end].strip():
                continue
            positions = starts[bisect_left(starts, start) : bisect_left(starts, end)]
            stems = stems_in(self.side.plain[start:end])
            missing = len(stems) > 2 and len(stems & known_stems) < _KNOWN * len(stems)
            if positions and not missing:
                after = positions[-1] + len(absent[positions[-1]]) + _NEAR
                start = max(start, text.rfind(" ", start, max(start, positions[0] - _NEAR)) + 1)
                end = max(text.find(" ", after, end), 0) or end
            if positions or missing:
                yield Change("not_entered", text[start:end].strip(" -*•"), "", asks=False)
            for at in positions:
                del absent[at]
        for figure in absent.values():
            yield Change("not_entered", figure, "", asks=False)


class Answers:
    """What answers a difference without asking."""

    def __init__(
        self,
        task: Task,
        original: Side,
        changes: Sequence[Change],
        *,
        sources: Sequence[str],
        failing: Sequence[tuple[int, int]],
    ) -> None:
        self._task, self._original, self._failing = task, original, failing
        self._sources = [Side(source) for source in sources]
        entered = [change for change in changes if change.new and task.side.has(change.new)]
        self._enters = bool(entered)
        amounts = [_read_amount(each) for each in task.side.statements if form_of(each)]
        self._steps = {("+", sign * amount) for amount in amounts if amount for sign in (1, -1)}
        self._steps |= {step for change in entered for step in _find_steps(change)}
        self._derived: dict[str, frozenset[float]] = {}

    def answer(self, change: Change) -> str:
        """`task`, `source`, `rule`, `arithmetic`, or nothing."""
        lost, new = change.lost, change.new
        if self._is_requested(change, lost, new) or not self._steps.isdisjoint(_find_steps(change)):
            return "task"
        if new and not lost and self._is_worked_out(new):
            return "arithmetic"
        if lost and any(0 <= at <= lost.start and lost.end <= at + n for at, n in self._failing):
            return "rule"
        return "source" if new and any(source.has(new) for source in self._sources) else ""

    def _is_requested(self, change: Change, lost: Statement | None, new: Statement | None) -> bool:
        task, kinds = self._task.side, self._task.kinds
        if change.kind == "language":
            targets = translation_into(f"translate {task.text}") or ()
            names = [LANGUAGE_NAMES.get(code, code) for code in targets]
            is_wanted = not names or change.after.split(" (")[0] in names
            return is_wanted and asks_for_translation(task.text)
        came = frozenset(words_in(change.after)) - frozenset(words_in(change.before))
        in_task = bool(came and came <= task.vocabulary)
        if change.kind == "data":
            label = frozenset(words_in((change.before or change.after).partition(":")[0]))
            return in_task or bool(label & task.vocabulary - EMPTY and "" in kinds)
        # Step 3, where the task speaks of steps.
        label = new.value[:4] if new and new.kind == "name" and new.figures else "\0"
        spelt = change.kind == "name" and lost and new and is_close(lost.value, new.value)
        return bool(
            (new and task.has(new, exact=True))
            or (in_task and lost)
            or label in task.text
            or (lost and self._task.instruction.has(lost) and ("" in kinds or self._enters))
            or ((change.unlike or change.kind == "code") and "example" in kinds)
            or (new and new.kind == "code" and task.vocabulary.issuperset(words_in(new.value)))
            or change.kind in kinds
            or (spelt and "spelling" in kinds)
        )

    def _is_worked_out(self, new: Statement) -> bool:
        """True when a new figure is the sum or the difference of others, or the time between two.

        A figure without a unit, or of two digits, is that of too many others.
        """
        amount, form = _read_amount(new), form_of(new)
        long_enough = len(re.sub(r"\D", "", new.text).strip("0")) > 2 or form == "s"
        if not amount or form in ("", "T") or not long_enough:
            return False
        if form not in self._derived:
            self._derived[form] = frozenset(_derive_amounts(self._original.statements, form))
        return round(amount, 6) in self._derived[form]


def _read_amount(statement: Statement) -> float | None:
    """The figure in its unit, a time in seconds; None of what has several readings."""
    value, _, unit = statement.value.partition(" ")
    if clock := re.fullmatch(r"T(\d\d):(\d\d)", statement.value):
        return 3600.0 * int(clock[1]) + 60 * int(clock[2])
    figure = statement.kind in ("number", "money") and re.fullmatch(r"\d+(?:\.\d+)?", value)
    return float(value) if figure and "|" not in unit else None


def _find_steps(change: Change) -> Iterator[tuple[str, float]]:
    """By what a figure or a time was changed: what was added, and the factor."""
    if change.lost and change.new:
        lost, new = _read_amount(change.lost), _read_amount(change.new)
        clocks = [each.value.startswith("T") for each in (change.lost, change.new)]
        if lost and new and clocks[0] == clocks[1]:
            yield "+", round(new - lost, 6)
            if not clocks[0]:
                yield "*", round(new / lost, 6)


_MOST_DERIVED = 12
"""Figures of one form from which others may be worked out: of more nearly all can be."""


def _derive_amounts(statements: Sequence[Statement], form: str) -> Iterator[float]:
    """The differences and sums of the figures of a form; for spans of time those between times."""
    measured = [(form_of(s), amount) for s in statements if (amount := _read_amount(s))]
    figures = [amount for of, amount in measured if of == form]
    clocks = [amount for of, amount in measured if of == "T" and form == "s"]
    for amounts in (figures, clocks):
        if len(amounts) <= _MOST_DERIVED:
            yield from (round(abs(a - b), 6) for a, b in combinations(amounts, 2))
    if len(figures) <= _MOST_DERIVED:
        yield from (round(a + b, 6) for a, b in combinations(figures, 2))
        # The total of figures that follow one another.
        yield from (round(b - a, 6) for a, b in combinations([0.0, *accumulate(figures)], 2))


def _find_kinds(task: str) -> frozenset[str]:
    """The kinds that a clause of the task asks to change, and "" where it has a verb of change."""
    kinds, denied, waiting = set[str](), set[str](), set[str]()
    for clause in _PATTERNS["clause"].split(task[:5000]):
        words = re.findall(r"[^\W\d_]+", clause.casefold())
        forms = {form for w in words for form in (w, w.removesuffix("s"), w.removesuffix("n"))}
        named = {kind for kind, listed in _KIND_WORDS.items() if forms & set(listed.split())}
        if _PATTERNS["denied"].search(clause):
            denied |= named
        elif forms & set(_VERBS.split()):
            kinds |= {"", *named, *(waiting if forms & {"it", "them"} else ())}
        kinds |= {"spelling"} & named
        waiting = named
    return frozenset(kinds - denied)
