"""The reasons for which a version that passes every validator is not called checked."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought

RESEARCH = "research"
"""The key in a version's metadata: `mode`, `partial`, `outline`, `sections`, ..."""
_NOTHING: Mapping[str, object] = MappingProxyType({})


def findings(thought: Thought | None) -> Mapping[str, object]:
    """The details of the research that a version goes back to; empty where there was none."""
    told = None if thought is None else thought.metadata.get(RESEARCH)
    return cast("Mapping[str, object]", told) if isinstance(told, Mapping) else _NOTHING


def shortfalls(thought: Thought | None) -> tuple[str, ...]:
    """The parts that a researched report lacks, in a line each; none for any other text.

    A section that failed, one that was cut by time or that no room was left to write, and a report
    that cites no document. Writing the text anew does not bring them back.
    """
    told = findings(thought)
    return tuple(_shortfalls(told)) if told else ()


def _shortfalls(told: Mapping[str, object]) -> Iterator[str]:
    for section in _all(told.get("sections")):
        title = section.get("title")
        if section.get("status") == "failed":
            yield f"the section {title!r} could not be researched: {section.get('error')}"
        elif "time" in _words(section.get("stop_reasons")):
            yield f"the research of the section {title!r} was cut by time"
        elif section.get("written") == "plain" and _words(section.get("stop_reasons")):
            yield f"the budget left no room to write the section {title!r}"
    if not told.get("references"):
        yield "nothing was found that the report could cite"


def not_checked(results: Mapping[str, ValidationResult]) -> tuple[str, ...]:
    """The required validators by name that could verify none of the claims they found."""
    return tuple(
        name
        for name, result in results.items()
        if result.required and (known := verdicts(result)) and set(known) == {"unverified"}
    )


def verdicts(result: ValidationResult) -> tuple[str, ...]:
    """The verdicts on the claims that a validator has checked, in their order."""
    return tuple(str(claim.get("verdict")) for claim in _all(result.details.get("claims")))


def open_claims(results: Mapping[str, ValidationResult]) -> tuple[Issue, ...]:
    """The issues about claims that could not be verified, of validators that passed."""
    return tuple(
        issue
        for result in results.values()
        if result.passed and "unverified" in verdicts(result)
        for issue in result.issues
        if issue.rule == "unverified"
    )


def _all(told: object) -> Iterator[Mapping[str, object]]:
    for each in cast("Sequence[object]", told) if isinstance(told, list | tuple) else ():
        if isinstance(each, Mapping):
            yield cast("Mapping[str, object]", each)


def _words(told: object) -> Sequence[object]:
    return cast("Sequence[object]", told) if isinstance(told, list | tuple) else ()
