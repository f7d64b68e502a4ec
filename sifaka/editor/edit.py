"""Applies the fixes of issues to a text, and edits it until no safe fix is left.

Numbers, addresses and negations stay as they were.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from sifaka.editor.facts import keeps_facts, keeps_surroundings
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.protection import Cover
from sifaka.editor.report import LONG_TEXT, find_issues
from sifaka.record.results import Issue
from sifaka.record.rule_choice import RuleChoice
from sifaka.text.formats import UNCHECKED, Format, recognise

Tier = Literal["safe", "suggested"]
"""The fixes that are applied: the safe ones, or the suggested ones as well."""

Gate = Callable[[str, Issue], bool]
"""Decides if the fix of an issue may be applied to a text."""

ROUNDS = 4
"""Checks of a text after edits: one edit can make another possible."""

LONG_ROUNDS = 1
"""The same for a text of more than `LONG_TEXT` characters, so that it takes seconds only."""

_BEFORE = 12
"""Characters before an edit that identify its place in the next round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEdit:
    """One change that was made."""

    rule: str
    message: str
    start: int
    """The offset of the change in the text before the call."""
    before: str
    """The words that were replaced, as they were when the rule fired."""
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A text after its edits, and the log of them in text order."""

    text: str
    edits: tuple[AppliedEdit, ...]


def apply(
    text: str,
    issues: Iterable[Issue],
    *,
    fixes: Tier = "safe",
    format: Format | None = None,
    gate: Gate = keeps_facts,
) -> Edited:
    """Apply the fixes among `issues`, right to left.

    Left out are issues that have no fix or no place, or no longer match the text; those that are
    not safe, unless suggested ones are wanted; fixes inside code, URLs and the like; fixes that
    overlap one further right; and fixes that the gate keeps out, as it does by default where a
    number, URL or negation nearby would differ. A replacement of the whole text goes alone. The
    format is recognised by the text's look when None.
    """
    wanted = (issue for issue in issues if issue.safe or fixes == "suggested")
    candidates = [issue for issue in wanted if _is_applicable(text, issue)]
    for issue in candidates:
        if text and (issue.start, issue.end) == (0, len(text)):  # as a repair of JSON does
            edit = _log_edit(text, issue)
            return Edited(text=edit.after, edits=(edit,))
    if not candidates:
        return Edited(text=text, edits=())
    off_limits = ParsedText.read(text, format or recognise(text)).verbatim
    chosen = [*_choose(text, candidates, off_limits, gate)][::-1]
    pieces: list[str] = []
    position = 0
    for issue in chosen:
        pieces += [text[position : issue.start], issue.fix or ""]
        position = issue.end or 0
    pieces.append(text[position:])
    return Edited(text="".join(pieces), edits=tuple(_log_edit(text, issue) for issue in chosen))


def _choose(text: str, issues: Iterable[Issue], off_limits: Cover, gate: Gate) -> Iterator[Issue]:
    limit = len(text) + 1
    for issue in sorted(issues, key=lambda i: (i.start or 0, i.end or 0), reverse=True):
        start, end = issue.start or 0, issue.end or 0
        is_free = end <= limit and start != limit and not off_limits.touches(start, end)
        if is_free and gate(text, issue):
            limit = start
            yield issue


def _is_applicable(text: str, issue: Issue) -> bool:
    if issue.fix is None or issue.start is None or issue.end is None:
        return False
    current = text[issue.start : issue.end]
    is_within = 0 <= issue.start <= issue.end <= len(text)
    return is_within and current.startswith(issue.quote) and current != issue.fix


def _log_edit(text: str, issue: Issue) -> AppliedEdit:
    start, end = issue.start or 0, issue.end or 0
    return AppliedEdit(
        rule=issue.rule or issue.category,
        message=issue.message,
        start=start,
        before=text[start:end],
        after=issue.fix or "",
    )


def edit(
    text: str,
    issues: Sequence[Issue] = (),
    *,
    fixes: Tier = "safe",
    format: Format | None = None,
    rules: RuleChoice | None = None,
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
        rules: The rules whose findings are fixed; `default` when None.
    """
    format = format or recognise(text)
    requested = apply(text, issues, fixes=fixes, format=format, gate=keeps_surroundings)
    if any(entry.before == text for entry in requested.edits) or format in UNCHECKED:
        return requested
    rounds = [requested]

    def find(text: str) -> Iterable[Issue]:
        return find_issues(ParsedText.read(text, format), rules).issues

    tiers: Sequence[Tier] = ("safe",) if fixes == "safe" else ("safe", "suggested")
    for tier in tiers:
        rounds += settle(rounds[-1].text, find, tier, format)
    if len(rounds) == 1:
        return requested
    return Edited(text=rounds[-1].text, edits=_merge_logs(rounds))


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


def _merge_logs(rounds: Sequence[Edited]) -> tuple[AppliedEdit, ...]:
    """The edits of all rounds, each placed in the text before the first."""
    log: list[AppliedEdit] = []
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

    def __init__(self, edits: Sequence[AppliedEdit]) -> None:
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
