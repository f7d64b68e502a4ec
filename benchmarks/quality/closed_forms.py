"""The results that the worlds must have, by arithmetic."""

from collections import defaultdict
from itertools import product
from math import comb

_COIN = 0.5
"""The probability that the judge prefers the newer of two texts that are equally good."""


def majority_of(votes: int, accuracy: float) -> float:
    """The probability that more than half of the votes are right."""
    return sum(
        comb(votes, right) * accuracy**right * (1 - accuracy) ** (votes - right)
        for right in range(votes // 2 + 1, votes + 1)
    )


def naive(start: float, repair: float, harm: float, steps: int) -> float:
    """The share of good texts when each revision takes its predecessor's place.

    Args:
        start: The share of good texts at the beginning.
        repair: How often a revision makes a bad text good.
        harm: How often it makes a good text bad.
        steps: Revisions.
    """
    good = start
    for _ in range(steps):
        good = good * (1 - harm) + (1 - good) * repair
    return good


def gated(start: float, repair: float, harm: float, accuracy: float, steps: int) -> float:
    """The share of good texts when a judge must prefer a revision, before the look back.

    Args:
        start: As for `naive`.
        repair: As for `naive`.
        harm: As for `naive`.
        accuracy: How often a comparison is right.
        steps: Revisions.
    """
    good = start
    for _ in range(steps):
        good = good * (1 - harm * (1 - accuracy)) + (1 - good) * repair * accuracy
    return good


def limit(repair: float, harm: float, accuracy: float) -> float:
    """The limit of `gated` after many steps."""
    return repair * accuracy / (repair * accuracy + harm * (1 - accuracy))


def gated_with_look_back(
    start: float, repair: float, harm: float, accuracy: float, steps: int
) -> float:
    """The share of good texts after the champion was compared with the original at the end.

    A Markov chain over three things: whether the original is good, whether the champion is, and
    whether any revision was accepted. A champion that is not the original goes back to it unless
    the comparison prefers it. The decision on a revision as good as the champion changes nothing in
    `gated`, but it counts as a step here: such a comparison is a coin.

    Args:
        start: As for `gated`.
        repair: As for `gated`.
        harm: As for `gated`.
        accuracy: As for `gated`.
        steps: As for `gated`.
    """
    states: dict[tuple[bool, bool, bool], float] = {
        (True, True, False): start,
        (False, False, False): 1 - start,
    }
    for _ in range(steps):
        following: dict[tuple[bool, bool, bool], float] = defaultdict(float)
        for (state, share), better in product(states.items(), (True, False)):
            original, champion, _ = state
            improves = 1 - harm if champion else repair
            written = improves if better else 1 - improves
            taken = _COIN if better == champion else accuracy if better else 1 - accuracy
            following[original, better, True] += share * written * taken
            following[state] += share * written * (1 - taken)
        states = following
    good = 0.0
    for (original, champion, accepted), share in states.items():
        if accepted and original != champion:
            # A good champion must be shown to be better; a good original must not be shown worse.
            good += share * accuracy
        else:
            good += share * champion
    return good


def consensus(samples: int, probability: float) -> float:
    """The probability that more than half of the samples report an issue."""
    return majority_of(samples, probability)


def precision_and_recall(
    samples: int, found: float, invented: float, real: int, false: int
) -> tuple[float, float]:
    """Expected true issues over expected issues, and the share of true issues that are reported.

    Args:
        samples: Opinions; an issue stands when more than half of them report it.
        found: How often one opinion reports a true issue.
        invented: How often it reports a certain false one.
        real: True issues in a text.
        false: False issues that may be reported.
    """
    recall = consensus(samples, found)
    wrong = false * consensus(samples, invented)
    reported = real * recall + wrong
    return (real * recall / reported if reported else 1.0), recall
