"""Meta-Rewarding: several judgments, and a judge of the judgments."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from typing import Literal

from pydantic import Field

from sifaka.calls.context import current_calls
from sifaka.critics.judge import REVIEW, REVIEWER, JudgingCritic
from sifaka.critics.opinion import (
    Replies,
    ask_all,
    case,
    covered_by,
    findings_of,
    no_answer,
    on_record,
    reported,
)
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form
from sifaka.record.clustering import cluster
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

_ROUNDS, _PRECISION = 1_000, 1e-10
PRIOR = 0.5
"""Wins each of a pair is given beforehand: one comparison does not make a certainty."""


def bradley_terry(wins: Sequence[Sequence[float]], *, prior: float = PRIOR) -> tuple[float, ...]:
    """The strengths under which such results are most likely.

    The chance that i beats j is `p[i] / (p[i] + p[j])`. Found by minorisation and maximisation
    (Hunter 2004), which converges from anywhere.

    Args:
        wins: `wins[i][j]` is how often i has won against j; a draw is half a win for each.
        prior: Added to the wins of every pair that was compared, in both directions.

    Returns:
        The strengths, which add up to 1. Without any comparison they are equal.
    """
    indices = range(len(wins))
    won = [
        [wins[i][j] + prior if i != j and wins[i][j] + wins[j][i] else 0.0 for j in indices]
        for i in indices
    ]
    strengths = [1 / len(wins)] * len(wins)
    for _ in range(_ROUNDS):
        updated = [_update_strength(i, won, strengths) for i in indices]
        total = sum(updated)
        before, strengths = strengths, [strength / total for strength in updated]
        if max(abs(a - b) for a, b in zip(before, strengths, strict=True)) < _PRECISION:
            break
    return tuple(strengths)


def _update_strength(i: int, won: Sequence[Sequence[float]], strengths: Sequence[float]) -> float:
    against = sum(
        (won[i][j] + won[j][i]) / (strengths[i] + strengths[j])
        for j in range(len(won))
        if strengths[i] + strengths[j] > 0
    )
    return sum(won[i]) / against if against else strengths[i]


NEAR = 0.1
"""A judgment that would beat the best one with a chance of at least 0.5 less this is near it."""

PROMPT = Prompt(
    purpose="Gives one of several judgments, of which the best counts.",
    task=f"{REVIEWER} Review all of it.",
    rules=REVIEW,
)
META_PROMPT = Prompt(
    purpose="Chooses the better one of two judgments.",
    task="You compare two judgments of one text, `first` and `second`. Choose the better judgment.",
    rules=(
        "Check each judgment against the task and the text. Compare the judgments, not texts.",
        "The better judgment has the right verdict. It names real faults and no others, it quotes "
        "exactly, and it says how to mend them.",
        "Their order and their length say nothing.",
        "Give the reason in one or two sentences, then the better one.",
    ),
)
_ASKED = "Which judgment is better?"


class _Comparison(Form):
    """Your comparison of the two judgments."""

    reason: str = Field(default="", description="one or two sentences")
    better: Literal["first", "second"]


class MetaRewardingCritic(JudgingCritic):
    """Judges the text several times, and gives the verdict that a judge of judgments prefers.

    Meta-Rewarding (Wu et al. 2024, arXiv 2407.19594). Every two judgments are compared in both
    orders. A pair whose orders disagree shows where a judgment stood, not how good it is: half a
    win for each. Strengths follow by Bradley and Terry; of the judgments near the best one the
    shortest is taken, because judges prefer length. What the others found is kept beside what it
    found. `n + n (n - 1)` model calls, depth two.
    """

    type: Literal["meta_rewarding"] = "meta_rewarding"
    name: Name = "meta_rewarding"
    n: int = Field(default=3, ge=2, le=6)
    """Judgments."""
    temperature: float = Field(default=0.7, gt=0, le=2)
    """Of the judgments; without any, all would be the same."""

    def calls(self, text: str = "") -> int:
        """One a judgment, and two for each pair of them."""
        return self.n * self.n

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The verdict that won, with what all judgments found; see `Critic`.

        Judgments and comparisons that fail do not count.
        """
        with current_calls().ledger.set_aside(self.calls()):
            judged = await self._draw_samples(PROMPT, thought, "judgment", self.n, self.temperature)
            if not judged.answers:
                return no_answer(self.name, judged)
            judgments = list(judged.answers.values())
            compared = await self._compare(thought, judgments)
        wins, split = _tally(len(judgments), compared.answers)
        strengths = bradley_terry(wins)
        chosen = shortest_near_best(strengths, [len(_judgment_as_json(each)) for each in judgments])
        first = [each.better == "first" for each in compared.answers.values()]
        findings = findings_of([judgments[chosen], *judgments[:chosen], *judgments[chosen + 1 :]])
        issues, suggestions = reported(cluster(findings))
        details = {
            "judgments": [each.verdict for each in judgments],
            "strengths": [round(strength, 3) for strength in strengths],
            "chosen": chosen,
            "pairs_split_by_order": split,
            # Of the comparisons, the judgment shown first has won so many; 0.5 without any bias.
            "first_slot_share": round(sum(first) / len(first), 3) if first else None,
            **covered_by([judgments[chosen]]),
        }
        return on_record(
            judgments[chosen],
            details,
            issues=issues,
            suggestions=suggestions,
            degraded=(*judged.degraded, *compared.degraded),
            usage=judged.usage + compared.usage,
        )

    async def _compare(
        self, thought: Thought, judgments: Sequence[CriticFeedback]
    ) -> Replies[_Comparison]:
        texts = [_judgment_as_json(judgment) for judgment in judgments]
        return await ask_all(
            {
                _name_pair(one, other): partial(
                    self._ask,
                    META_PROMPT,
                    "\n\n".join(
                        (
                            case(thought),
                            frame("first", texts[one]),
                            frame("second", texts[other]),
                            _ASKED,
                        )
                    ),
                    _Comparison,
                )
                for one, other in permutations(range(len(judgments)), 2)
            }
        )


def shortest_near_best(strengths: Sequence[float], lengths: Sequence[int]) -> int:
    """The shortest of those that would beat the best one almost as often as not."""
    best = max(strengths)
    near = [at for at, p in enumerate(strengths) if p / (p + best) >= 0.5 - NEAR]
    return min(near, key=lambda at: (lengths[at], -strengths[at], at))


def _tally(count: int, comparisons: Mapping[str, _Comparison]) -> tuple[list[list[float]], int]:
    """How often each has won against each, and the pairs whose two orders disagree."""
    wins = [[0.0] * count for _ in range(count)]
    split = 0
    for pair in combinations(range(count), 2):
        better = [
            order[answer.better == "second"]
            for order in (pair, pair[::-1])
            if (answer := comparisons.get(_name_pair(*order)))
        ]
        split += len(set(better)) > 1
        # Where one order has no answer a bias could not be seen: a draw, as when they disagree.
        for winner in pair if len(better) == 1 else better:
            wins[winner][sum(pair) - winner] += 0.5
    return wins, split


def _name_pair(first: int, second: int) -> str:
    return f"{first} before {second}"


def _judgment_as_json(judgment: CriticFeedback) -> str:
    return judgment.model_dump_json(
        include={
            "verdict": True,
            "scores": True,
            "suggestions": True,
            "issues": {"__all__": {"quote", "message", "severity", "fix"}},
        }
    )
