"""Edits a text until no safe fix is left."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sifaka.editor.apply import Edit, Edited, Tier, apply, apply_gated
from sifaka.editor.gate import keeps_surroundings
from sifaka.editor.report import LONG_TEXT, RULES, findings
from sifaka.record.results import Issue
from sifaka.text.formats import UNCHECKED, Format, recognise

ROUNDS = 4
"""Checks of a text after edits: one edit can make another possible."""

LONG_ROUNDS = 1
"""The same for a text of more than `LONG_TEXT` characters, so that it takes seconds only."""

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
            replacement of the whole text (a JSON repair, a new Markdown layout), and in JSON, the
            rules for prose do not run.
        fixes: With `suggested`, fixes that need a judgement are made too when the safe ones are
            done; if that does not settle, the safe ones alone stay.
        format: The format of the text; recognised by its look when None. Source code and data stay
            as they are.
    """
    format = format or recognise(text)
    given = apply_gated(text, issues, keeps_surroundings, fixes, format)
    if any(entry.before == text for entry in given.edits) or format in UNCHECKED:
        return given
    rounds = [given]
    for tier in _TIERS[fixes]:
        rounds += _settled(rounds[-1].text, tier, format)
    return Edited(text=rounds[-1].text, edits=_log(rounds))


def _settled(text: str, fixes: Tier, format: Format) -> Sequence[Edited]:
    """The rounds after which nothing is left to do; none when there is no end to them."""
    long = len(text) > LONG_TEXT
    rounds: list[Edited] = []
    for _ in range(LONG_ROUNDS if long else ROUNDS + 1):
        found, _ = findings(text, RULES.values(), format)
        done = apply(text, found, fixes=fixes, format=format)
        if not done.edits:
            return rounds
        rounds.append(done)
        text = done.text
    return rounds if long else ()


def _log(rounds: Sequence[Edited]) -> tuple[Edit, ...]:
    """The edits of all rounds, each placed in the text before the first."""
    log: list[Edit] = []
    for number, round_ in enumerate(rounds):
        for edit_ in round_.edits:
            start = edit_.start
            for earlier in reversed(rounds[:number]):
                start = _origin(start, earlier.edits)
            log.append(replace(edit_, start=start))
    return tuple(sorted(log, key=lambda entry: entry.start))


def _origin(offset: int, edits: Sequence[Edit]) -> int:
    """The offset in the text before the edits; inside a replacement, that of its start."""
    shift = 0
    for entry in edits:
        start = entry.start + shift
        if offset < start:
            break
        if offset < start + len(entry.after):
            return entry.start
        shift += len(entry.after) - len(entry.before)
    return offset - shift
