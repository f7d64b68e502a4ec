"""Comparison of the facts of a text with those of its rewrite."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from sifaka.text.language import tell_language
from sifaka.validators.facts.allowance import NOTHING, Allowance
from sifaka.validators.facts.calendar_words import is_named
from sifaka.validators.facts.contexts import Places
from sifaka.validators.facts.fact import KINDS, Fact, Kind
from sifaka.validators.facts.index import Index
from sifaka.validators.facts.name_comparison import carried_names, compare_names
from sifaka.validators.facts.negation import turned_over
from sifaka.validators.facts.reading import Reading, language_of, read
from sifaka.validators.facts.translated import is_spelt_out, respelt
from sifaka.validators.facts.units import is_money
from sifaka.validators.facts.vocabulary import READ

_LONG = 40_000
"""Characters of both texts from which only the lines that differ are read."""
NEW = " that the original has not: "
BECAME = " became "
"""What stands in a message before the words of the rewrite."""
What = Literal["lost", "changed", "new", "moved", "untranslated"]
_LONG_ENOUGH = 80
"""Characters of a text from which its rewrite is held to a length."""
_FEWEST_WORDS = 5
"""Words of a translation from which it is told from the text."""
_LIKELY, _SURE = 0.15, 0.25
"""The shares of function words from which a text is of their language likely, and for certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact that a rewrite does not have as the text has it."""

    what: What
    kind: Kind | Literal["text"]
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
                return f"{noun}{NEW}{self.after}"
            case "changed":
                return f"{self.before}{BECAME}{self.after}"
            case "moved":
                return f"{self.before} and {self.after} changed places"
            case "untranslated":
                return "the words are still those of the original's language"


def compare(
    original: str, text: str, task: str = "", allowed: Allowance = NOTHING
) -> tuple[Difference, ...]:
    """The facts of the original that the text changes, loses or invents against its task.

    Takes time that grows with the length of both. Of long texts only the lines that differ are
    read; a fact that they lose may stand in another line.

    Args:
        original: The text that the work began with.
        text: The rewrite.
        task: The task in words, and whatever else new facts may come from.
        allowed: The changes that the task asks for.
    """
    if original == text:
        return ()
    one, other = original, text
    if len(original) + len(text) > _LONG:
        one, other = _without_common(original, text)
    language = into = language_of(original)
    if allowed.translates:
        into = next(iter(allowed.into)) if len(allowed.into) == 1 else language_of(text)
        told = tell_language(original)
        unsure = language in READ and bool(told.scores) and told.scores[0][1] < _LIKELY
        # What is to be put into a language is not in it: a few words misled.
        language = "unknown" if unsure or language in allowed.into else language
    before, after = read(one, language), read(other, into)
    given = read(task, "en") if task else None
    found = chain(
        _as_a_whole(original, text, allowed),
        _differences(before, after, given, task, allowed),
        () if allowed.translates or not allowed.known else _denied(one, other, task),
    )
    if one is original:
        return tuple(found)
    return tuple(
        replace(d, start=None, end=None)
        for d in found
        if not (d.what == "lost" and d.before in text)
        and not (d.what == "new" and d.after in original)
    )


def _as_a_whole(original: str, text: str, allowed: Allowance) -> Iterator[Difference]:
    """What is left too little of to be a rewrite, and a translation in the words of the text."""
    size, now = len(original.strip()), len(text.strip())
    most = 0 if allowed.lose >= frozenset(KINDS) else allowed.shortest
    grown = bool(allowed.longest) and now > allowed.longest * size
    if size >= _LONG_ENOUGH and (grown or (most and now * most < size)):
        yield Difference(
            what="changed", kind="text", before=f"{size} characters", after=f"{now} characters"
        )
    words = text.casefold().split() if allowed.translates else ()
    if len(words) >= _FEWEST_WORDS and (
        set(words) <= set(original.casefold().split()) or _stays(original, text, allowed.into)
    ):
        yield Difference(what="untranslated", kind="text")


def _stays(original: str, text: str, into: frozenset[str]) -> bool:
    """True for a text in the language of the original, which is none that it was to be put into."""
    if not into:
        return False
    now = tell_language(text)
    sure = bool(now.scores) and now.scores[0][1] >= _SURE
    return sure and now.language not in into and now.language == language_of(original)


def _denied(original: str, text: str, task: str) -> Iterator[Difference]:
    for turned in turned_over(original, text, task):
        yield Difference(
            what="changed",
            kind="text",
            before=turned.before,
            after=turned.after,
            start=turned.start,
            end=turned.end,
        )


def _without_common(original: str, text: str) -> tuple[str, str]:
    """The lines of both texts that the other has not."""
    one, other = original.split("\n"), text.split("\n")
    in_one, in_other = frozenset(one), frozenset(other)
    return (
        "\n".join(line for line in one if not line.strip() or line not in in_other),
        "\n".join(line for line in other if not line.strip() or line not in in_one),
    )


def _differences(
    before: Reading, after: Reading, given: Reading | None, task: str, allowed: Allowance
) -> Iterator[Difference]:
    old, new = Index(before), Index(after)
    told = Index(given) if given else None
    old.strange = new.strange = frozenset(
        dimension
        for dimension, bases in new.by_dimension.items()
        if dimension and not set(bases) <= set(old.by_dimension.get(dimension, ()))
    )
    lost = [f for f in before.facts if not new.has(f, allowed)]
    invented = [f for f in after.facts if not old.has(f, allowed)]
    old_names: tuple[Fact, ...] = ()
    new_names: tuple[Fact, ...] = ()
    if "name" not in allowed.lose & allowed.add:
        named = compare_names(before, after, task)
        old_names, new_names = named.old, named.new
        lost += named.lost
        invented += named.invented
    if allowed.translates or before.language not in READ:
        lost = [f for f in lost if not _in_words(f, after)]
        invented = [f for f in invented if not _in_words(f, before)]
    gone = [f for f in lost if not _may_go(f, allowed, told, task)]
    come = [f for f in invented if not _may_come(f, allowed, told)]
    yield from _paired(gone, come)
    if allowed.translates:
        if not allowed.replaces:
            yield from _renamed(before, after, allowed)
        return
    for word, other in respelt(before, after):
        yield Difference(what="changed", kind="number", before=word, after=other)
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


def _in_words(fact: Fact, reading: Reading) -> bool:
    """True when a text has a fact in words of a language that is not read as a whole."""
    text, language = reading.text, reading.language
    return is_spelt_out(fact.value, text, language) or is_named(fact, text, language)


def _renamed(before: Reading, after: Reading, allowed: Allowance) -> Iterator[Difference]:
    for name, other in carried_names(before.blank, after.blank):
        if other:
            yield Difference(what="changed", kind="name", before=name, after=other)
        elif "number" not in allowed.lose:
            yield Difference(what="lost", kind="name", before=name)


def _changed(one: Fact, other: Fact) -> Difference:
    return Difference(
        what="changed",
        kind=one.kind,
        before=one.shown,
        after=other.shown,
        start=other.start,
        end=other.end,
    )


def _may_go(fact: Fact, allowed: Allowance, told: "Index | None", task: str) -> bool:
    if fact.weak:
        return False
    if allowed.replaces and told is not None and (told.has(fact, allowed) or _in(fact, task)):
        return True
    if fact.kind not in allowed.lose:
        return "money" in allowed.converts and fact.kind == "number" and is_money(fact.unit)
    if fact.kind != "number":
        return True
    return not ((allowed.measures_stay and fact.unit) or (allowed.counts_stay and not fact.coded))


def _may_come(fact: Fact, allowed: Allowance, told: "Index | None") -> bool:
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
            yield Difference(
                what="new", kind=fact.kind, after=fact.shown, start=fact.start, end=fact.end
            )
