"""A model's new text for one section: put in its place, or rejected."""

import re
from collections.abc import Sequence

from sifaka.record.results import Issue
from sifaka.text.markdown import Markdown, open_fence
from sifaka.text.sections import Section
from sifaka.validators.preserve import lost_spans

_NEARBY = 40
"""Characters around a span in an issue's quote up to which the issue is about that span."""
_MARKS = " \t#*_=-"
_BARE = re.compile(r"(?<!\r)\n")


def in_place_of(section: Section, answer: str) -> str:
    """The answer with the section's heading, its line ends, and the white space around it.

    A heading that the model left out is put back, one whose marks it changed has them as before,
    and one whose words it changed keeps the words.
    """
    body = answer.strip()
    if not body:
        return ""
    if body == section.text.strip():  # its beginning would be read as without its indent
        return section.text
    if "\r\n" in section.text and not _BARE.search(section.text):
        body = _BARE.sub("\r\n", body)
    if section.heading:
        body = _headed(section, body).strip()
    text = section.text
    lead = text[: len(text) - len(text.lstrip())]
    trail = text[len(text.rstrip()) :]
    return lead + body + trail


def fault_of(
    section: Section,
    new: str,
    others: frozenset[str],
    *,
    issues: Sequence[Issue] = (),
    protect: bool = False,
) -> str | None:
    """The reason why a new text cannot replace a section; None when it can.

    Args:
        section: The section that it replaces.
        new: The new text, with the white space and the heading of the section.
        others: Titles of headings in other sections, casefolded.
        issues: The issues of the section: the places they point at may go.
        protect: True when code, numbers, quotes, links and names must survive.
    """
    if not new.strip():
        return "the answer is empty"
    if not open_fence(section.text) and open_fence(new):
        return "the answer leaves a code block open"
    own = {heading.title.casefold() for heading in section.headings}
    brought = {b.title.casefold() for b in Markdown(new, 0).blocks if b.level} - own
    if foreign := sorted(brought & others):
        return f"the answer brings other sections along: {foreign[0][:80]!r}"
    if protect:
        lost = [span for span in lost_spans(section.text, new) if not pointed_at(span, issues)]
        if lost:
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            return f"the answer loses {' '.join(lost[0].split())[:80]!r}{more}"
    return None


def pointed_at(span: str, issues: Sequence[Issue]) -> bool:
    """True when an issue is about this very span, so that it may go."""
    return any(span in i.quote and len(i.quote) <= len(span) + _NEARBY for i in issues)


def _headed(section: Section, body: str) -> str:
    """A text under the section's heading."""
    level, heading = section.headings[0].level, section.heading
    ends = heading if heading.endswith(("\n", "\r")) else f"{heading}\n"
    first = Markdown(body, 0).blocks[0]
    if not first.level:
        line, _, rest = body.partition("\n")
        # Perhaps its words are there, without marks.
        return ends + rest if _plain(line) == _plain(section.title) else _spaced(section) + body
    rest = body[first.stop :]
    if _plain(first.title) == _plain(section.title):
        return ends + rest
    if first.level == level:
        return body
    if any(_plain(first.title) == _plain(under.title) for under in section.headings[1:]):
        return _spaced(section) + body
    return f"{'#' * level} {first.title}\n{rest}"


def _spaced(section: Section) -> str:
    """The heading with the blank lines after it."""
    after = section.text[len(section.heading) :]
    blank = re.match(r"\s*", after)
    return section.heading + (blank.group() if blank and after.strip() else "\n")


def _plain(line: str) -> str:
    return " ".join(line.strip(_MARKS + "\r").casefold().split())
