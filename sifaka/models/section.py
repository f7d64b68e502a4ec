"""One section of a long document, as its writers and critics see it: with a note on the rest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from sifaka.models.prompt import ORIGINAL, frame
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.sections import Section, outline

SECTION = "section"
"""The key in a thought's metadata that marks its text as one section of a longer document."""
_MOST_HEADINGS = 5
_LONGEST_TITLE = 200
_MOST_TERMS = 40
"""Terms that one section is told."""


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
