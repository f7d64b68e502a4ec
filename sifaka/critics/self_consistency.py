"""Self-Consistency: the same question several times, and what most answers agree on."""

from functools import partial
from typing import Literal

from pydantic import Field

from sifaka.critics.judge import REVIEW, REVIEWER, JudgingCritic
from sifaka.critics.opinion import MOST_ISSUES
from sifaka.critics.panel import (
    ask_all,
    covered_by,
    mean_scores,
    no_answer,
    shared_suggestions,
    strongest,
    verdict_of,
    votes,
)
from sifaka.models.prompt import Prompt
from sifaka.record.clustering import cluster
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Gives one of several independent reviews, of which the majority counts.",
    task=f"{REVIEWER} Review all of it.",
    rules=REVIEW,
)


class SelfConsistencyCritic(JudgingCritic):
    """Asks for the same review several times and keeps what more than half of them report.

    Self-Consistency (Wang et al. 2022, arXiv 2203.11171), for free text as in Universal
    Self-Consistency (Chen et al. 2023, arXiv 2311.17311): issues are counted after those that mean
    the same were merged, as no two samples use the same words. The others are on record in
    `details["disagreements"]`. `n` model calls, depth one.
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
        """The majority of the samples; see `Critic`. A sample that fails has no vote."""
        sample = partial(self._opinion, PROMPT, thought, settings={"temperature": self.temperature})
        replies = await ask_all({f"sample {number}": sample for number in range(self.n)})
        feedback = list(replies.answers.values())
        if not feedback:
            return no_answer(self.name, replies)
        half = len(feedback) / 2
        issues = cluster([each.issues for each in feedback])
        counted = votes(feedback)
        verdict = verdict_of(counted)
        return CriticFeedback(
            critic=self.name,
            verdict=verdict,
            scores=mean_scores(feedback),
            issues=strongest([issue for issue in issues if issue.support > half]),
            suggestions=shared_suggestions(feedback, half),
            confidence=counted[verdict] / len(feedback),
            details={
                "n": self.n,
                "answered": len(feedback),
                "votes": counted,
                "agreement": f"{counted[verdict]}/{len(feedback)}",
                "disagreements": [_noted(i) for i in issues if i.support <= half][:MOST_ISSUES],
                **covered_by(feedback),
            },
            degraded=replies.degraded,
            usage=replies.usage,
        )


def _noted(issue: Issue) -> dict[str, object]:
    return issue.model_dump(
        mode="json", include={"message", "quote", "start", "end", "category", "severity", "support"}
    )
