"""One section of a long document: the note on the rest of it, and its new text in its place."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from sifaka.models.prompt import ORIGINAL, frame
from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.markdown import Markdown, open_fence
from sifaka.text.sections import Section, outline
from sifaka.validators.preserve import lost_spans

_NEARBY = 40
"""Characters around a span in an issue's quote up to which the issue is about that span."""
_MARKS = " \t#*_=-"
_BARE = re.compile(r"(?<!\r)\n")
SECTION = "section"
"""The key in a thought's metadata that marks its text as one section of a longer document."""
_MOST_HEADINGS = 5
_LONGEST_TITLE = 200
_MOST_TERMS = 40
"""Terms that one section is told."""


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


def thought_of(
    whole: Thought,
    sections: Sequence[Section],
    at: int,
    *,
    terms: Iterable[str] = (),
    results: Mapping[str, ValidationResult] | None = None,
    feedback: tuple[CriticFeedback, ...] = (),
    original: str | None = None,
) -> Thought:
    """The thought of one section: its text and what is said of it, and a note on the rest.

    Args:
        whole: The thought of the document.
        sections: All of its sections.
        at: The place of this one among them, from 0.
        terms: Those that it shares with others.
        results: Those of validators on this section.
        feedback: That of critics on this section.
        original: The original of this section; that of the document is left out.
    """
    note: dict[str, object] = {
        "number": at + 1,
        "of": len(sections),
        "outline": outline(sections),
        "before": _headings(sections[at - 1]) if at else "",
        "after": _headings(sections[at + 1]) if at + 1 < len(sections) else "",
        "terms": sorted(terms)[:_MOST_TERMS],
    }
    kept = {name: value for name, value in whole.metadata.items() if name != ORIGINAL}
    shown = {} if original is None else {ORIGINAL: original}
    return whole.with_text(
        sections[at].text,
        validation_results=results or {},
        critic_feedback=feedback,
        metadata={**kept, **shown, SECTION: note},
    )


def _headings(section: Section) -> str:
    """The names of a neighbour: its headings, or the one that it stands under."""
    titles = [heading.title for heading in section.headings[:_MOST_HEADINGS]]
    return " / ".join(title[:_LONGEST_TITLE] for title in titles or [section.title])


def section_note(thought: Thought, advice: str) -> list[str]:
    """The parts of a prompt that say what the text is a section of; none when it is a whole.

    Args:
        thought: The section, or a whole text.
        advice: The consequence for the work at hand, in our words.
    """
    note = cast("Mapping[str, object] | None", thought.metadata.get(SECTION))
    if note is None:
        return []
    parts = [f"The text is section {note['number']} of {note['of']} of a longer document. {advice}"]
    if note["outline"]:
        parts.append(frame("outline of the document", str(note["outline"])))
    beside = [f"{where}: {note[where]}" for where in ("before", "after") if note[where]]
    if beside:
        parts.append(frame("sections beside it", "\n".join(beside)))
    if terms := cast("Sequence[str]", note["terms"]):
        parts.append(frame("terms that other sections have too", "\n".join(terms)))
    return parts
