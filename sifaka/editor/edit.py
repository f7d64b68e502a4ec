"""Edits a text until no safe fix is left."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from sifaka.editor.apply import Edit, Edited, Tier, apply
from sifaka.editor.facts import keeps_facts, keeps_surroundings
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.report import LONG_TEXT, RULES, findings
from sifaka.record.results import Issue
from sifaka.text.formats import UNCHECKED, Format, recognise

ROUNDS = 4
"""Checks of a text after edits: one edit can make another possible."""

LONG_ROUNDS = 1
"""The same for a text of more than `LONG_TEXT` characters, so that it takes seconds only."""

_BEFORE = 12
"""Characters before an edit that tell its place in the next round."""
_TIERS: Mapping[Tier, tuple[Tier, ...]] = {"safe": ("safe",), "suggested": ("safe", "suggested")}


def edit(
    text: str,
    issues: Sequence[Issue] = (),
    *,
    fixes: Tier = "safe",
    format: Format | None = None,
) -> Edited:
    """Make every safe edit: first the given ones, then those the rules find.

    Editing the result again changes nothing. A text that does not settle within `ROUNDS` rounds is
    not edited by the rules at all. A text of more than `LONG_TEXT` characters gets `LONG_ROUNDS`
    and keeps what was done; it may have more to do the next time.

    Args:
        text: The text to edit.
        issues: What validators report about this very text. Their fixes are applied outside
            code and URLs, also where they name another number: the user asked for them. After a
            replacement of the whole text (a JSON repair), and in JSON, the
            rules for prose do not run.
        fixes: With `suggested`, fixes that need a judgement are made too when the safe ones are
            done; if that does not settle, the safe ones alone stay.
        format: The format of the text; recognised by its look when None. Source code and data stay
            as they are.
    """
    format = format or recognise(text)
    given = Edited(text=text, edits=())
    if reported := list(issues):
        given = apply(text, reported, fixes=fixes, format=format, gate=keeps_surroundings)
    if any(entry.before == text for entry in given.edits) or format in UNCHECKED:
        return given
    rounds = [given]

    def find(text: str) -> Iterable[Issue]:
        return findings(ParsedText.read(text, format), RULES)[0]

    for tier in _TIERS[fixes]:
        rounds += settle(rounds[-1].text, find, tier, format)
    if len(rounds) == 1:
        return given
    return Edited(text=rounds[-1].text, edits=_log(rounds))


def settle(
    text: str, find: Callable[[str], Iterable[Issue]], fixes: Tier, format: Format
) -> Sequence[Edited]:
    """The rounds after which nothing is left to do; none when there is no end to them.

    Of two edits that undo each other the first one is made.

    Args:
        text: The text.
        find: What is wrong with a text.
        fixes: The fixes to make.
        format: The format of the text.
    """
    long = len(text) > LONG_TEXT
    rounds: list[Edited] = []
    made: set[tuple[str, str, str]] = set()

    def is_new(text: str, issue: Issue) -> bool:
        start, end = issue.start or 0, issue.end or 0
        undone = text[max(0, start - _BEFORE) : start], issue.fix or "", text[start:end]
        return undone not in made and keeps_facts(text, issue)

    for _ in range(LONG_ROUNDS if long else ROUNDS + 1):
        done = apply(text, find(text), fixes=fixes, format=format, gate=is_new)
        if not done.edits:
            return rounds
        rounds.append(done)
        for each in done.edits:
            made.add((text[max(0, each.start - _BEFORE) : each.start], each.before, each.after))
        text = done.text
    return rounds if long else ()


def _log(rounds: Sequence[Edited]) -> tuple[Edit, ...]:
    """The edits of all rounds, each placed in the text before the first."""
    log: list[Edit] = []
    origins = [Origins(round_.edits) for round_ in rounds]
    for number, round_ in enumerate(rounds):
        for edit_ in round_.edits:
            start = edit_.start
            for earlier in reversed(origins[:number]):
                start = earlier.of(start)
            log.append(replace(edit_, start=start))
    return tuple(sorted(log, key=lambda entry: entry.start))


class Origins:
    """The offsets before some edits, for those after them."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        growth = (len(entry.after) - len(entry.before) for entry in edits)
        self._shifts = [0, *accumulate(growth)]
        """How much longer the text is before each edit, and after the last."""
        self._starts = [
            entry.start + shift for entry, shift in zip(edits, self._shifts, strict=False)
        ]

    def of(self, offset: int) -> int:
        """The offset in the text before the edits; inside a replacement, that of its start."""
        index = bisect_right(self._starts, offset)
        if index and offset < self._starts[index - 1] + len(self._edits[index - 1].after):
            return self._edits[index - 1].start
        return offset - self._shifts[index]
