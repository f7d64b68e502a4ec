"""The task of a run: written for, judged and passed, as far as its record knows."""

from typing import TYPE_CHECKING

from sifaka.record.results import Verdict, majority
from sifaka.record.thought import EDITOR, Thought
from sifaka.text.language import tell_language, translation_into

if TYPE_CHECKING:
    from sifaka.record.run import Run

NOBODY = "nobody"
CALLER = "caller"
"""The author of a version that the calling agent wrote."""


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
    if written(run, champion).author in {EDITOR, "input"}:
        accepted = judged and verdict_of(champion) != "revise"
        tried = accepted and any(_is_fair_try(run, thought) for thought in run.thoughts)
        if tried and not _is_untranslated(run.prompt, champion.text):
            return None
        return "the task was not carried out: no version that was written for it was kept"
    return None if judged else "no model judged whether the text does what the task asks"


def verdict_of(thought: Thought) -> Verdict | None:
    """The verdict of the critics that judge; rules of mechanics have no vote on the meaning."""
    return majority(tuple(f for f in thought.critic_feedback if f.judges_task))


def written(run: "Run", thought: Thought) -> Thought:
    """The version, or the one that the editor made it of."""
    while thought.author == EDITOR and thought.parent_id is not None:
        thought = run.thought(thought.parent_id)
    return thought


def _is_fair_try(run: "Run", thought: Thought) -> bool:
    """True for a writer's version that passes the required validators and was judged and refused.

    A version that critics accept as they do the input was not refused by what they say of it.
    """
    if written(run, thought).author in {EDITOR, "input"} or not thought.passed:
        return False
    if verdict_of(thought) == "revise":
        return True
    if run.ending is not None and not run.ending.decision.accepted:
        return bool(thought.critic_feedback)
    decision = run.decisions.get(thought.id)
    lost = decision is not None and decision.by == "judge" and decision.votes
    return bool(lost and lost.champion)


def _is_untranslated(task: str, text: str) -> bool:
    """True when a task asks to translate, and a text is not in the language that it names."""
    into = translation_into(task)
    return into is not None and tell_language(text).language not in into
