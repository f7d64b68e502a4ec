"""Applies the fixes of issues to a text; numbers, addresses and negations stay as they were."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sifaka.editor.protection import Cover, verbatim
from sifaka.record.results import Issue
from sifaka.text.formats import Format, recognise
from sifaka.text.prose import urls

WINDOW = 40
"""Characters compared on each side of an edit, rounded up to whole words."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nothing|nobody|noone|nowhere|cannot|without|unless"
    r"|(?:do|does|did|is|are|was|were|has|have|had|could|should|would|ca|wo)nt)\b|n['’]t\b",
    re.IGNORECASE,
)
# Shows quickly that a text has none.
_NEGATED = re.compile(r"\b(?:n[eo]|cannot|without|unless)|n['’]?t\b", re.IGNORECASE)


def facts(text: str) -> Counter[str]:
    """The numbers, URLs and negations of a text, each with how often it occurs.

    The ways to write `not` count as one, so that `cannot` may become `can't`.
    """
    found = Counter(match.group() for match in _NUMBER.finditer(text))
    if ":/" in text or "www." in text or "mailto:" in text:
        found.update(text[start:end] for start, end in urls(text))
    for match in _NEGATION.finditer(text) if _NEGATED.search(text) else ():
        word = match.group().lower()
        if word == "noone":
            word = "no"
        found["not" if word in {"not", "cannot"} or word.endswith("t") else word] += 1
    return found


def keeps_facts(text: str, issue: Issue) -> bool:
    """True when the issue's fix leaves the facts nearby unchanged.

    A repaired encoding may bring a negation to light: `donâ€™t` has none, `don’t` has.
    """
    start, end, fix = issue.start or 0, issue.end or 0, issue.fix or ""
    if _is_plain_word(text, start, end, fix):
        return True
    left, right = _window(text, start, end)
    after = text[left:start] + fix + text[end:right]
    return _have_the_same_facts(text[left:right], after, encoding=issue.category == "encoding")


def _is_plain_word(text: str, start: int, end: int, fix: str) -> bool:
    """True where a word between spaces becomes another one, and neither is a fact."""
    word = text[start:end]
    if not (word.isalpha() and fix.isalpha()) or _NEGATED.search(f"{word} {fix}"):
        return False
    return (not start or text[start - 1].isspace()) and text[end : end + 1] in _ENDS


_ENDS = frozenset(["", " ", "\n"])


# Asked when a fix is found, and again when it is applied.
@lru_cache(maxsize=1_000)
def _have_the_same_facts(before: str, after: str, *, encoding: bool) -> bool:
    one, other = facts(before), facts(after)
    if encoding:
        one.pop("not", None)
        other.pop("not", None)
    return one == other


def keeps_surroundings(text: str, issue: Issue) -> bool:
    """True when the fix changes facts in the replaced words only, not beside them.

    For requested replacements: those may name another number on purpose.
    """
    start, end, fix = issue.start or 0, issue.end or 0, issue.fix or ""
    left, right = _window(text, start, end)
    before = facts(text[left:start]) + facts(text[end:right])
    glued = facts(text[left:start] + fix + text[end:right])
    whole = facts(text[left:right]) == before + facts(text[start:end])
    return not whole or glued == before + facts(fix)


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    left, right = max(0, start - WINDOW), min(len(text), end + WINDOW)
    while left > 0 and not text[left - 1].isspace():
        left -= 1
    while right < len(text) and not text[right].isspace():
        right += 1
    return left, right


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
    off_limits: Cover | None = None,
) -> Edited:
    """Apply the fixes among `issues`, right to left.

    Left out are issues that have no fix or no place, or no longer match the text; those that are
    not safe, unless suggested ones are wanted; fixes inside code, URLs and the like; fixes that
    overlap one further right; and fixes after which a number, URL or negation nearby would differ.
    A replacement of the whole text goes alone. The format is recognised by the text's look when
    None; `off_limits` is `verbatim` of the text where that is known.
    """
    return apply_gated(text, issues, keeps_facts, fixes, format or recognise(text), off_limits)


def apply_gated(
    text: str,
    issues: Iterable[Issue],
    gate: Gate,
    fixes: Tier,
    format: Format,
    off_limits: Cover | None = None,
) -> Edited:
    """`apply` with another rule for what a fix may change."""
    wanted = (issue for issue in issues if issue.safe or fixes == "suggested")
    candidates = [issue for issue in wanted if _fits(text, issue)]
    for issue in candidates:
        if _replaces_everything(text, issue):
            edit = _log(text, issue)
            return Edited(text=edit.after, edits=(edit,))
    if off_limits is None:
        off_limits = Cover(verbatim(text, format)) if candidates else Cover(())
    chosen = list(_chosen(text, candidates, off_limits, gate))
    pieces: list[str] = []
    position = 0
    for issue in reversed(chosen):
        pieces += [text[position : issue.start], issue.fix or ""]
        position = issue.end or 0
    pieces.append(text[position:])
    return Edited(
        text="".join(pieces), edits=tuple(_log(text, issue) for issue in reversed(chosen))
    )


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
