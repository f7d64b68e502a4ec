"""Self-Consistency: the same question several times, and what most answers agree on."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from sifaka.calls.context import scope
from sifaka.critics.judge import REVIEW, REVIEWER, JudgingCritic
from sifaka.critics.opinion import MOST_ISSUES, agreed, attempt, findings_of, no_answer
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form
from sifaka.record.clustering import cluster, joined
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Gives one of several independent reviews, of which the majority counts.",
    task=f"{REVIEWER} Review all of it.",
    rules=REVIEW,
)
JOIN_PROMPT = Prompt(
    purpose="Says which findings of several reviews are the same, so that they can be counted.",
    task="Several people have reviewed one text. Find out which of their findings are the same.",
    rules=(
        "Two findings are the same when one change of the text settles both, however they are "
        "worded and whatever words they quote.",
        "Findings about the same words that want different changes are not the same.",
        "Put the ids of findings that are the same into one list. Each id stands in one list at "
        "most. Leave out a finding that no other one repeats.",
    ),
)
_ASKED = "Which findings are the same?"


class _Join(Form):
    """The findings that are the same."""

    same: list[list[str]] = Field(description="lists of ids, such as f1; empty when none are")


class SelfConsistencyCritic(JudgingCritic):
    """Asks for the same review several times and keeps what more than half of them report.

    Self-Consistency (Wang et al. 2022, arXiv 2203.11171), for free text as in Universal
    Self-Consistency (Chen et al. 2023, arXiv 2311.17311): no two samples use the same words, so one
    more call says which of their findings are the same, before they are counted. The others are on
    record in `details["disagreements"]`. `n` model calls, depth one; where two samples or more have
    findings `n + 1`, depth two.
    """

    type: Literal["self_consistency"] = "self_consistency"
    name: Name = "self_consistency"
    n: int = Field(default=3, ge=2, le=16)
    """Samples."""
    temperature: float = Field(default=0.7, gt=0, le=2)
    """Of the sampling; without any, all samples would be the same."""

    def calls(self, text: str = "") -> int:
        """One a sample."""
        return self.n

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The majority of the samples; see `Critic`.

        A sample that fails has no vote. When the call that joins their findings fails, those are
        joined by their places and words, and `degraded` says so.
        """
        replies = await self._draw_samples(PROMPT, thought, "review", self.n, self.temperature)
        if not replies.answers:
            return no_answer(self.name, replies)
        answered = len(replies.answers)
        with scope("join"):
            points, spent, failed = await self._join_findings(findings_of(replies.answers.values()))
        shared = [point for point in points if point.support > answered / 2]
        fields = {"message", "quote", "start", "end", "category", "severity", "support"}
        others = [
            point.model_dump(mode="json", include=fields)
            for point in points
            if point.support <= answered / 2
        ]
        feedback = agreed(
            self.name,
            replies,
            shared,
            n=self.n,
            answered=answered,
            disagreements=others[:MOST_ISSUES],
        )
        return feedback.model_copy(
            update={
                "degraded": (*replies.degraded, *failed),
                "usage": replies.usage + spent,
            }
        )

    async def _join_findings(
        self, findings: Sequence[Sequence[Issue]]
    ) -> tuple[Sequence[Issue], Usage, Sequence[str]]:
        """Each point once with its support, the usage, and why it was not the model that joined."""
        if sum(map(bool, findings)) < 2:  # nothing could be the same
            return cluster(findings), Usage(), ()
        numbered = [(n, issue) for n, group in enumerate(findings, 1) for issue in group]
        named = {f"f{at}": each for at, each in enumerate(numbered, 1)}
        lines = [
            f"{id_} (review {n}): {f'{issue.quote!r}: ' if issue.quote else ''}{issue.message}"
            for id_, (n, issue) in named.items()
        ]
        question = "\n\n".join((frame("findings", "\n".join(lines)), _ASKED))
        answer = await attempt(partial(self._ask, JOIN_PROMPT, question, _Join))
        if not isinstance(answer, tuple):
            return cluster(findings), Usage(), (f"joined by their words: {answer.message}",)
        joint, usage = answer
        # An id that is not known, or is in a second list, counts for nothing.
        groups = [[named.pop(id_) for id_ in ids if id_ in named] for ids in joint.same]
        alone = [[each] for each in named.values()]
        points = [joined(group) for group in (*groups, *alone) if group]
        return sorted(points, key=lambda p: (not p.anchored, p.start or 0)), usage, ()
