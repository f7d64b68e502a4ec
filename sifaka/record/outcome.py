"""The reasons for which a version that passes every validator is not called checked."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, cast

from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought

RESEARCH = "research"
"""The key in a version's metadata: `mode`, `partial`, `outline`, `sections`, ..."""
_NOTHING: Mapping[str, object] = MappingProxyType({})


def findings(thought: Thought | None) -> Mapping[str, object]:
    """The details of the research that a version goes back to; empty where there was none."""
    told = None if thought is None else thought.metadata.get(RESEARCH)
    return cast("Mapping[str, object]", told) if isinstance(told, Mapping) else _NOTHING


def shortfalls(thought: Thought) -> Iterator[str]:
    """The parts that a researched report lacks, in a line each; none for any other text.

    A section that failed, one that was cut by time or that no room was left to write, and a report
    that cites no document. Writing the text anew does not bring them back.
    """
    told = findings(thought)
    for section in _all(told.get("sections")):
        title = section.get("title")
        if section.get("status") == "failed":
            yield f"the section {title!r} could not be researched: {section.get('error')}"
        elif "time" in _words(section.get("stop_reasons")):
            yield f"the research of the section {title!r} was cut by time"
        elif section.get("written") == "plain" and _words(section.get("stop_reasons")):
            yield f"the budget left no room to write the section {title!r}"
    if not told.get("references", True):
        yield "nothing was found that the report could cite"


def shortcoming(
    original: Thought | None, champion: Thought
) -> Literal["issues_left", "unchecked"] | None:
    """The reason for which a version does not pass although its validators do.

    Its research lacks a part, or a required validator could verify none of the claims it found.
    """
    if original is not None and RESEARCH in original.metadata and any(shortfalls(original)):
        return "issues_left"
    for result in champion.validation_results.values():
        if result.required and result.details and set(verdicts(result)) == {"unverified"}:
            return "unchecked"
    return None


def verdicts(result: ValidationResult) -> tuple[str, ...]:
    """The verdicts on the claims that a validator has checked, in their order."""
    return tuple(str(claim.get("verdict")) for claim in _all(result.details.get("claims")))


def _all(told: object) -> Iterator[Mapping[str, object]]:
    return (
        cast("Mapping[str, object]", each) for each in _words(told) if isinstance(each, Mapping)
    )


def _words(told: object) -> Sequence[object]:
    return cast("Sequence[object]", told) if isinstance(told, list | tuple) else ()
