"""The results that the worlds must have, by arithmetic."""

from collections import defaultdict
from itertools import product
from math import comb

_ANY = 1
"""Steps from which on the champion is compared with the original at the end."""
_COIN = 0.5
"""The probability that the judge prefers the newer of two texts that are equally good."""


def majority_of(votes: int, accuracy: float) -> float:
    """The probability that more than half of the votes are right."""
    return sum(
        comb(votes, right) * accuracy**right * (1 - accuracy) ** (votes - right)
        for right in range(votes // 2 + 1, votes + 1)
    )


def lead_of(by: int, most: int, accuracy: float) -> float:
    """The probability that the right votes lead by so many before the wrong ones do.

    A random walk between two bounds (the gambler's ruin), cut off after so many votes. Without the
    cut it is `1 / (1 + ((1 - accuracy) / accuracy) ** by)`.

    Args:
        by: The lead that decides.
        most: Votes at most; without such a lead by then, it is no success.
        accuracy: How often one vote is right.
    """
    leads, reached = {0: 1.0}, 0.0
    for _ in range(most):
        following: dict[int, float] = defaultdict(float)
        for lead, share in leads.items():
            following[lead + 1] += share * accuracy
            following[lead - 1] += share * (1 - accuracy)
        reached += following.pop(by, 0.0)
        following.pop(-by, None)
        leads = following
    return reached


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


def gated(
    start: float, repair: float, harm: float, accuracy: float, votes: int, steps: int
) -> float:
    """The share of good texts when a judge must prefer a revision, before the look back.

    Args:
        start: As for `naive`.
        repair: As for `naive`.
        harm: As for `naive`.
        accuracy: How often one vote is right.
        votes: Votes on each revision, an odd number; more than half of them decide.
        steps: Revisions.
    """
    right = majority_of(votes, accuracy)
    good = start
    for _ in range(steps):
        good = good * (1 - harm * (1 - right)) + (1 - good) * repair * right
    return good


def limit(repair: float, harm: float, accuracy: float, votes: int) -> float:
    """The limit of `gated` after many steps."""
    right = majority_of(votes, accuracy)
    return repair * right / (repair * right + harm * (1 - right))


def gated_with_look_back(
    start: float,
    repair: float,
    harm: float,
    accuracy: float,
    votes: int,
    steps: int,
    *,
    look_back: int = 2,
) -> float:
    """The share of good texts after the champion was compared with the original at the end.

    A Markov chain over three things: whether the original is good, whether the champion is, and
    whether any revision was accepted. A champion that is not the original goes back to it unless
    the votes for it lead by `look_back` within three times as many. The decision on a revision as
    good as the champion changes nothing in `gated`, but it counts as a step here: such votes are
    coins.

    Args:
        start: As for `gated`.
        repair: As for `gated`.
        harm: As for `gated`.
        accuracy: As for `gated`.
        votes: As for `gated`.
        steps: As for `gated`.
        look_back: The lead that the champion needs at the end. With 0 the result is that of
            `gated`.
    """
    right, tie = majority_of(votes, accuracy), majority_of(votes, _COIN)
    states: dict[tuple[bool, bool, int], float] = {
        (True, True, 0): start,
        (False, False, 0): 1 - start,
    }
    for _ in range(steps):
        following: dict[tuple[bool, bool, int], float] = defaultdict(float)
        for (state, share), better in product(states.items(), (True, False)):
            original, champion, accepted = state
            improves = 1 - harm if champion else repair
            written = improves if better else 1 - improves
            taken = tie if better == champion else right if better else 1 - right
            longer = min(accepted + 1, _ANY)
            following[original, better, longer] += share * written * taken
            following[state] += share * written * (1 - taken)
        states = following
    good, most = 0.0, 3 * look_back
    for (original, champion, accepted), share in states.items():
        if look_back and accepted == _ANY and original != champion:
            # A good champion must be shown to be better; a good original must not be shown worse.
            kept = lead_of(look_back, most, accuracy if champion else 1 - accuracy)
            good += share * (kept if champion else 1 - kept)
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
