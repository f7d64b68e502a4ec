"""Edits a text until no safe fix is left."""

from collections.abc import Sequence
from dataclasses import replace

from sifaka.editor.apply import Edit, Edited, apply, apply_gated, replaces_everything
from sifaka.editor.gate import keeps_surroundings
from sifaka.editor.report import LONG_TEXT, RULES, findings
from sifaka.record.results import Issue
from sifaka.text.formats import UNCHECKED, Format, recognise

ROUNDS = 4
"""Checks of a text after edits: one edit can make another possible."""

LONG_ROUNDS = 1
"""The same for a text of more than `LONG_TEXT` characters, so that it takes seconds only."""


def edit(text: str, issues: Sequence[Issue] = (), *, format: Format | None = None) -> Edited:
    """Make every safe edit: first the given ones, then those the rules find.

    Editing the result again changes nothing. A text that does not settle within `ROUNDS` rounds is
    not edited by the rules at all. A text of more than `LONG_TEXT` characters gets `LONG_ROUNDS`
    and keeps what was done; it may have more to do the next time.

    Args:
        text: The text to edit.
        issues: What validators report about this very text. Their safe fixes are applied outside
            code and URLs, also where they name another number: the user asked for them. After a
            replacement of the whole text (a JSON repair, a new Markdown layout), and in JSON, the
            rules for prose do not run.
        format: The format of the text; recognised by its look when None. Source code and data stay
            as they are.
    """
    format = format or recognise(text)
    given = apply_gated(text, issues, keeps_surroundings, format)
    whole = any(i.safe and i.fix is not None and replaces_everything(text, i) for i in issues)
    if (whole and given.edits) or format in UNCHECKED:
        return given
    rounds = [given]
    long = len(given.text) > LONG_TEXT
    for _ in range(LONG_ROUNDS if long else ROUNDS):
        found, _ = findings(rounds[-1].text, RULES.values(), format)
        done = apply(rounds[-1].text, found, format=format)
        if not done.edits:
            return Edited(text=done.text, edits=_log(rounds))
        rounds.append(done)
    if not long:
        found, _ = findings(rounds[-1].text, RULES.values(), format)
        if apply(rounds[-1].text, found, format=format).edits:
            return given
    return Edited(text=rounds[-1].text, edits=_log(rounds))


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
