"""The task of a run: written for, judged and passed, as far as its record knows."""

from typing import TYPE_CHECKING

from sifaka.record.declines import still_open
from sifaka.record.outcome import shortcoming
from sifaka.record.results import majority
from sifaka.record.thought import EDITOR, PERSON, Thought
from sifaka.text.language import tell_language, translation_into

if TYPE_CHECKING:
    from sifaka.record.run import Run

PREFERRED = "preferred in"
"""The beginning of the reason of a judge's decision."""
_CALLER = "caller"


def open_task(run: "Run") -> str | None:
    """The reason that the task of a run is not known to be done; None when it is.

    A task is done when a version was written for it, and when a critic, a judge or the caller who
    wrote the version has judged it. An input that a critic accepts as it is counts when a writer
    has tried, what it wrote kept the rules and the facts, and a critic asks for its revision or a
    judge prefers the input: one that accepts both alike does not weigh the task. A text that is not
    in the language which a task to translate names is never what it asks for.
    """
    champion = run.champion
    if champion is None or not run.prompt.strip() or run.config.facts is None:
        return None
    if run.config.inquiry is not None or run.is_declined(champion):
        return None
    judged = _is_judged(run, champion)
    author = written(run, champion).author
    if author in {EDITOR, "input"}:
        accepted = judged and majority(champion.critic_feedback) != "revise"
        tried = accepted and any(_is_fair_try(run, thought) for thought in run.thoughts)
        if tried and not _is_untranslated(run.prompt, champion.text):
            return None
        return "the task was not carried out: no version that was written for it was kept"
    if author in {_CALLER, PERSON} or judged:
        return None
    return "no model judged whether the text does what the task asks"


def passes(run: "Run") -> bool:
    """True when the champion of a run was checked and nothing is known to be wrong with it."""
    champion = run.champion
    if champion is None or not champion.text or not champion.passed:
        return False
    if shortcoming(run.original, champion):
        return False
    if run.is_declined(champion):
        return True
    verdict = majority(champion.critic_feedback)
    if verdict is None and not champion.validation_results:
        return False
    mistakes = any(still_open(run, champion, [champion.mistakes]))
    return verdict != "revise" and not mistakes and not open_task(run)


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
    if majority(thought.critic_feedback) == "revise":
        return True
    if run.ending is not None and not run.ending.decision.accepted:
        return bool(thought.critic_feedback)
    decision = run.decisions.get(thought.id)
    return decision is not None and _prefers_other(decision.reason)


def _is_untranslated(task: str, text: str) -> bool:
    """True when a task asks to translate, and a text is not in the language that it names."""
    into = translation_into(task)
    return into is not None and tell_language(text).language not in into


def _prefers_other(reason: str) -> bool:
    """True for a judge's decision with votes for the version that stays."""
    return reason.startswith(PREFERRED) and not reason.endswith(" in 0")


def _is_judged(run: "Run", champion: Thought) -> bool:
    if any(f.judges_task and f.status == "ok" for f in champion.critic_feedback):
        return True
    decision = run.decisions.get(champion.id)
    return decision is not None and decision.reason.startswith(PREFERRED)
