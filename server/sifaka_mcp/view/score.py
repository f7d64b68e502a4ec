"""The score of a version, for pictures of a run."""

from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought

_GRAVITY = 10
"""Severities of issues, added up, at which the score of a critic without scores is a half."""


def score_of(thought: Thought) -> float | None:
    """The score of a version from 0 to 1, for a picture: the mean over its rules and critics.

    A critic without scores of its own counts by the issues that it found. None before anything has
    looked at the version. Versions are not chosen by it: see `sifaka.chain.acceptance`.
    """
    rules = [r.score for r in thought.validation_results.values() if r.unchecked is None]
    critics = [critic_score(f) for f in thought.critic_feedback if f.status == "ok"]
    scores = [*rules, *(each for each in critics if each is not None)]
    return round(sum(scores) / len(scores), 4) if scores else None


def critic_score(feedback: CriticFeedback) -> float | None:
    """The score of one opinion, from 0 to 1; None where it has no verdict and no issue."""
    if feedback.scores:
        return round(sum(feedback.scores.values()) / len(feedback.scores), 4)
    if feedback.verdict is None and not feedback.issues:
        return None
    weight = sum(issue.severity for issue in feedback.issues)
    return round(_GRAVITY / (_GRAVITY + weight), 4)
