"""The reasons for which a version that passes every validator does not pass as a whole."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast

from sifaka.record.results import ValidationResult, Verdict, majority
from sifaka.record.thought import EDITOR, Thought
from sifaka.text.language import tell_language, translation_into

if TYPE_CHECKING:
    from sifaka.record.run import Run

RESEARCH = "research"
"""The key in a version's metadata: `mode`, `partial`, `outline`, `sections`, ..."""
_NOTHING: Mapping[str, object] = MappingProxyType({})


def research_details(thought: Thought | None) -> Mapping[str, object]:
    """The details of the research that a version goes back to; empty where there was none."""
    details = None if thought is None else thought.metadata.get(RESEARCH)
    return cast("Mapping[str, object]", details) if isinstance(details, Mapping) else _NOTHING


def shortfalls(thought: Thought) -> Iterator[str]:
    """The parts that a researched report lacks, in a line each; none for any other text.

    A section that failed, one that was cut by time or that no room was left to write, and a report
    that cites no document. Writing the text anew does not bring them back.
    """
    details = research_details(thought)
    for section in _mappings_in(details.get("sections")):
        title = section.get("title")
        if section.get("status") == "failed":
            yield f"the section {title!r} could not be researched: {section.get('error')}"
        elif "time" in _as_list(section.get("stop_reasons")):
            yield f"the research of the section {title!r} was cut by time"
        elif section.get("written") == "plain" and _as_list(section.get("stop_reasons")):
            yield f"the budget left no room to write the section {title!r}"
    if not details.get("references", True):
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
    return tuple(str(claim.get("verdict")) for claim in _mappings_in(result.details.get("claims")))


def _mappings_in(value: object) -> Iterator[Mapping[str, object]]:
    return (
        cast("Mapping[str, object]", each) for each in _as_list(value) if isinstance(each, Mapping)
    )


def _as_list(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


NOBODY = "nobody"


def open_task(run: "Run") -> str | None:
    """The reason that the task of a run is not known to be done; None when it is.

    A task is done when a version was written for it, and when a critic, a judge or the caller who
    wrote the version has judged it. An input that a critic accepts as it is counts when a writer
    has tried, what it wrote kept the rules and the facts, and a critic asks for its revision or a
    judge prefers the input: one that accepts both alike does not weigh the task. A text that is not
    in the language which a task to translate names is never what it asks for.
    """
    if not run.prompt.strip() or run.config.facts is None or run.config.inquiry is not None:
        return None
    champion = run.champion
    if champion is None or run.is_declined(champion):
        return None
    judged = run.judged_by != NOBODY
    if source_of(run, champion).author in {EDITOR, "input"}:
        accepted = judged and verdict_of(champion) != "revise"
        if accepted and any(_is_fair_try(run, thought) for thought in run.thoughts):
            into = translation_into(run.prompt)  # the languages that a task to translate names
            if into is None or tell_language(champion.text).language in into:
                return None
        return "the task was not carried out: no version that was written for it was kept"
    return None if judged else "no model judged whether the text does what the task asks"


def verdict_of(thought: Thought) -> Verdict | None:
    """The verdict of the critics that judge; rules of mechanics have no vote on the meaning."""
    return majority(tuple(f for f in thought.critic_feedback if f.judges_task))


def source_of(run: "Run", thought: Thought) -> Thought:
    """The version, or the one that the editor made it of."""
    while thought.author == EDITOR and thought.parent_id is not None:
        thought = run.thought(thought.parent_id)
    return thought


def _is_fair_try(run: "Run", thought: Thought) -> bool:
    """True for a writer's version that passes the required validators and was judged and refused.

    A version that critics accept as they do the input was not refused by what they say of it.
    """
    if source_of(run, thought).author in {EDITOR, "input"} or not thought.passed:
        return False
    if verdict_of(thought) == "revise":
        return True
    if run.ending is not None and not run.ending.decision.accepted:
        return bool(thought.critic_feedback)
    decision = run.decisions.get(thought.id)
    lost = decision is not None and decision.by == "judge" and decision.votes
    return bool(lost and lost.champion)
