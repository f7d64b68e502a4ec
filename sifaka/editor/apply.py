"""Applies the fixes of issues to a text; numbers, addresses and negations stay as they were."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from sifaka.editor.facts import keeps_facts
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.protection import Cover
from sifaka.record.results import Issue
from sifaka.text.formats import Format, recognise

Tier = Literal["safe", "suggested"]
"""The fixes that are applied: the safe ones, or the suggested ones as well."""

Gate = Callable[[str, Issue], bool]
"""Decides if the fix of an issue may be applied to a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change that was made."""

    rule: str
    message: str
    start: int
    """The offset of the change in the text before the call."""
    before: str
    """The words that were replaced, as they stood when the rule fired."""
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A text after its edits, and the log of them in text order."""

    text: str
    edits: tuple[Edit, ...]

    @property
    def changed(self) -> bool:
        """True when the text was changed."""
        return bool(self.edits)


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
    candidates = [issue for issue in wanted if _fits(text, issue)]
    for issue in candidates:
        if _replaces_everything(text, issue):
            edit = _log(text, issue)
            return Edited(text=edit.after, edits=(edit,))
    if not candidates:
        return Edited(text=text, edits=())
    off_limits = ParsedText.read(text, format or recognise(text)).verbatim
    chosen = [*_chosen(text, candidates, off_limits, gate)][::-1]
    pieces: list[str] = []
    position = 0
    for issue in chosen:
        pieces += [text[position : issue.start], issue.fix or ""]
        position = issue.end or 0
    pieces.append(text[position:])
    return Edited(text="".join(pieces), edits=tuple(_log(text, issue) for issue in chosen))


def _replaces_everything(text: str, issue: Issue) -> bool:
    """True when the fix replaces the whole text, as a JSON repair does."""
    return issue.start == 0 and issue.end == len(text) and bool(text)


def _chosen(text: str, issues: Iterable[Issue], off_limits: Cover, gate: Gate) -> Iterator[Issue]:
    limit = len(text) + 1
    for issue in sorted(issues, key=lambda i: (i.start or 0, i.end or 0), reverse=True):
        start, end = issue.start or 0, issue.end or 0
        if end > limit or start == limit or off_limits.touches(start, end):
            continue
        if gate(text, issue):
            limit = start
            yield issue


def _fits(text: str, issue: Issue) -> bool:
    if issue.fix is None or issue.start is None or issue.end is None:
        return False
    if not 0 <= issue.start <= issue.end <= len(text):
        return False
    matches = text[issue.start : issue.end].startswith(issue.quote)
    return matches and text[issue.start : issue.end] != issue.fix


def _log(text: str, issue: Issue) -> Edit:
    start, end = issue.start or 0, issue.end or 0
    return Edit(
        rule=issue.rule or issue.category,
        message=issue.message,
        start=start,
        before=text[start:end],
        after=issue.fix or "",
    )
