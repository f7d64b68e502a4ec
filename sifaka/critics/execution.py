"""Asking all critics at once, of a long text section by section."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import cast

import anyio

from sifaka._internal.naming import unique
from sifaka.calls.component import Adapted
from sifaka.calls.context import Calls, fan_out, is_cancelled
from sifaka.calls.failure_log import report_failure
from sifaka.critics.opinion import abstention, covered_by, shared_failure, strongest
from sifaka.critics.protocol import CriticComponent
from sifaka.errors import BudgetExceeded, CriticError, ModelProviderError, SifakaError, StorageError
from sifaka.models.prompt import ORIGINAL, thought_of
from sifaka.record.results import CriticFeedback, Findings, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.sections import Section, split

logger = logging.getLogger(__name__)


async def run_critics(
    critics: Sequence[CriticComponent],
    thought: Thought,
    calls: Calls,
    *,
    deadline: float | None = None,
) -> tuple[CriticFeedback, ...]:
    """Ask every critic about a thought; their feedback comes in the order of the critics.

    They run in parallel and charge the same ledger; each has the calls it needs set aside before it
    begins. One that fails, or is not done in time, abstains: it has no vote, and its error is only
    recorded.

    Args:
        critics: The critics.
        thought: The version to judge.
        calls: The surroundings of the run's model calls.
        deadline: Seconds that one critic may take, all of its calls together.

    Raises:
        StorageError: An answer could not be put on record.
    """
    names = unique(critic.name for critic in critics)
    with calls.active():
        return await fan_out(
            {
                f"critics[{n}].{name}": partial(_run_one, name, critic, thought, calls, deadline)
                for n, (name, critic) in enumerate(zip(names, critics, strict=True))
            },
            calls_each=0,
        )


async def _run_one(
    name: str, critic: CriticComponent, thought: Thought, calls: Calls, deadline: float | None
) -> CriticFeedback:
    began = perf_counter()
    with calls.monitor.measure("critic", name):
        feedback = await _ask(name, critic, thought, calls, deadline)
    if feedback.usage != Usage() and not (critic.models or critic.claim_checks):
        # The calls of a chain's own models and checkers have been charged already.
        calls.ledger.charge(feedback.usage.model_copy(update={"seconds": 0.0}))
    took = Usage(seconds=perf_counter() - began)
    return feedback.model_copy(update={"critic": name, "usage": feedback.usage + took})


async def _ask(
    name: str, critic: CriticComponent, thought: Thought, calls: Calls, deadline: float | None
) -> CriticFeedback:
    needed = critic.calls(thought.text)
    try:
        with (
            calls.set_aside(needed) if needed else nullcontext(),
            calls.ledger.within_time() as limit,
            anyio.move_on_after(deadline),
        ):
            feedback = cast("object", await critic.critique(thought))
            if not isinstance(feedback, CriticFeedback):  # it may be foreign code
                returned = type(feedback).__name__
                raise CriticError(f"it returned a {returned}, not a CriticFeedback")
            return feedback
    except StorageError:
        raise
    except BudgetExceeded as error:
        return abstention(name, error)
    except anyio.get_cancelled_exc_class():
        if is_cancelled():
            raise
        return CriticFeedback.abstain(name, "something that it waited for was cancelled")
    # A critic may be foreign code: its bug costs its vote, not the run.
    except Exception as error:  # noqa: BLE001 - reported just below
        if not isinstance(error, ModelProviderError):  # those were counted where they happened
            calls.monitor.count_error(type(error).__name__)
        report_failure(
            logger,
            f"critic:{name}",
            error,
            source=critic,
            run_id=thought.run_id,
            iteration=thought.iteration,
        )
        if isinstance(error, SifakaError):
            return abstention(name, error)
        return CriticFeedback.abstain(name, f"it crashed with {type(error).__name__}")
    if limit.cancelled_caught:
        return CriticFeedback.abstain(
            critic.name, "the run's budget of seconds is spent", details={"limit": "seconds"}
        )
    return CriticFeedback.abstain(
        name, f"no answer within {deadline:g} s", details={"code": "timeout"}
    )


# --- long texts ---

MOST_ISSUES = 500
"""Of all sections together; those with the most support, then the gravest."""
_MOST_SUGGESTIONS = 200
_LONGEST_REFLECTION = 1_000
"""Characters of the lessons of all sections together."""

_Replies = Sequence[tuple[Section, CriticFeedback]]


class SectionedCritic(Adapted):
    """A critic that is shown a long text section by section, all at the same time.

    A text of up to `section_chars` characters is read as a whole. Of a longer one every section
    gets an opinion of its own, and there is either room in the budget for all of them or none is
    asked for. The text needs a revision when one section does. Places are those of the whole text;
    a remark without a place begins with the label of its section. A section without an opinion is
    named in `degraded`; when half of them or more have none and no other asks for a revision, there
    is no vote.

    Args:
        component: The critic that reads each section.
        section_chars: Characters beyond which a text is read in sections, each of at most half as
            many.
    """

    inner: CriticComponent

    def __init__(self, component: CriticComponent, section_chars: int) -> None:
        super().__init__(component)
        self._section_chars = section_chars

    def calls(self, text: str = "") -> int:
        """Those of one opinion for each section."""
        return (len(_select_worded(self._sections(text))) or 1) * self.inner.calls(text)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The joint feedback on all sections; see `Critic`."""
        sections = self._sections(thought.text)
        if not sections:
            return await self.inner.critique(thought)
        worded = _select_worded(sections)
        originals = self._originals(thought, sections)
        # What is lost is in no section: each may say that the task asks for it.
        unanswered = {"findings": Findings(differences=thought.findings.open)}
        thoughts = {
            n: thought_of(thought, sections, n - 1, original=originals.get(n))
            for n in (each.number for each in worded)
        }
        replies = await fan_out(
            {
                f"section {number}": partial(self._ask, section.model_copy(update=unanswered))
                for number, section in thoughts.items()
            },
            calls_each=self.inner.calls(),
        )
        return _merge_replies(self.name, list(zip(worded, replies, strict=True)))

    def _sections(self, text: str) -> Sequence[Section]:
        """All of them; none when the text is read as a whole."""
        return split(text, self._section_chars // 2) if len(text) > self._section_chars else ()

    def _originals(self, thought: Thought, sections: Sequence[Section]) -> Mapping[int, str]:
        """The original of each section that has the same place and title in the original."""
        original = thought.metadata.get(ORIGINAL)
        before = self._sections(original) if isinstance(original, str) else ()
        if len(before) != len(sections):
            return {}
        pairs = zip(sections, before, strict=True)
        return {now.number: then.text for now, then in pairs if now.title == then.title}

    async def _ask(self, thought: Thought) -> CriticFeedback:
        try:
            return await self.inner.critique(thought)
        except StorageError:
            raise
        except SifakaError as error:
            return abstention(self.name, error)


def _select_worded(sections: Sequence[Section]) -> list[Section]:
    """Those with anything to judge in them."""
    return [section for section in sections if section.text.strip()]


def _merge_replies(critic: str, replies: _Replies) -> CriticFeedback:
    spoke = [(section, reply) for section, reply in replies if reply.status == "ok"]
    silent = [(section, reply) for section, reply in replies if reply.status == "abstained"]
    usage = sum((reply.usage for _, reply in replies), Usage())
    revise = any(reply.verdict == "revise" for _, reply in spoke)
    if not spoke or (2 * len(silent) >= len(replies) and not revise):
        return _abstention(critic, silent, len(replies), usage)
    confidences = [reply.confidence for _, reply in spoke if reply.confidence is not None]
    lessons = dict.fromkeys(reply.reflection for _, reply in spoke if reply.reflection)
    voted = any(reply.verdict is not None for _, reply in spoke)
    return CriticFeedback(
        critic=critic,
        verdict="revise" if revise else "accept" if voted else None,
        judges_task=any(reply.judges_task for _, reply in spoke),
        scores=_scores(spoke),
        issues=strongest(
            [i for section, reply in spoke for i in _place_issues(section, reply)], MOST_ISSUES
        ),
        suggestions=_suggestions(spoke),
        confidence=min(confidences, default=None),
        reflection="\n".join(lessons)[:_LONGEST_REFLECTION] or None,
        details={
            "sections": [_describe_reply(section, reply) for section, reply in replies],
            **covered_by([reply for _, reply in spoke]),
        },
        degraded=(
            *(f"{section.label} was not judged: {reply.reason}" for section, reply in silent),
            *(f"{section.label} {line}" for section, reply in spoke for line in reply.degraded),
        ),
        usage=usage,
    )


def _abstention(critic: str, silent: _Replies, of: int, usage: Usage) -> CriticFeedback:
    """The abstention of a critic most of whose sections have no opinion."""
    reason, *others = dict.fromkeys(str(reply.reason) for _, reply in silent)
    if others or len(silent) < of:
        reason = f"{len(silent)} of {of} sections were not judged: {reason}"
    details: dict[str, object] = {
        **shared_failure(reply.details for _, reply in silent),
        "sections": [_describe_reply(section, reply) for section, reply in silent],
    }
    return CriticFeedback.abstain(critic, reason, usage, details)


def _place_issues(section: Section, reply: CriticFeedback) -> list[Issue]:
    """The issues of one section where they are in the whole text."""
    return [
        issue.model_copy(
            update={"start": issue.start + section.start, "end": issue.end + section.start}
        )
        if issue.start is not None and issue.end is not None
        else issue.model_copy(update={"message": f"{section.label} {issue.message}"})
        for issue in reply.issues
    ]


def _suggestions(spoke: _Replies) -> tuple[str, ...]:
    """The suggestions under their sections' labels; a request without any words is one too."""
    lines: list[str] = []
    for section, reply in spoke:
        silent = reply.verdict == "revise" and not reply.issues
        words = reply.suggestions or (("it needs a revision",) if silent else ())
        lines += [f"{section.label} {suggestion}" for suggestion in words]
    return tuple(lines[:_MOST_SUGGESTIONS])


def _scores(spoke: _Replies) -> Mapping[str, float]:
    """The mean score of each aspect, a longer section counting for more."""
    sums: defaultdict[str, float] = defaultdict(float)
    weights: defaultdict[str, int] = defaultdict(int)
    for section, reply in spoke:
        for aspect, score in reply.scores.items():
            sums[aspect] += score * len(section.text)
            weights[aspect] += len(section.text)
    return {aspect: round(total / weights[aspect], 3) for aspect, total in sums.items()}


def _describe_reply(section: Section, reply: CriticFeedback) -> dict[str, object]:
    more = reply.model_dump(mode="json", include={"reason", "details"})
    return {
        "number": section.number,
        "title": section.title[:200],
        "verdict": reply.verdict or reply.status,
        **{name: value for name, value in more.items() if value},
    }
