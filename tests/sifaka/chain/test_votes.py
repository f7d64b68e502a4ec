"""The rules by which further votes of a judge are not needed."""

from itertools import product

import pytest

from sifaka.chain.judging import LONGEST, Lead, Majority, VoteRule, Votes

CANDIDATE = Votes(candidate=1)
CHAMPION = Votes(champion=1)
UNDECIDED = Votes(undecided=1)
OUTCOMES = (CANDIDATE, CHAMPION, UNDECIDED)


def asked(rule: VoteRule, outcomes: tuple[Votes, ...]) -> tuple[Votes, list[int]]:
    """The votes that are given when repeats come out so, and how many were made at a time."""
    votes, batches = Votes(), list[int]()
    left = iter(outcomes)
    while count := rule.missing(votes):
        batches.append(count)
        for _ in range(count):
            votes += next(left)
    return votes, batches


@pytest.mark.parametrize("repeats", [1, 2, 3, 5])
def test_a_curtailed_majority_decides_as_all_repeats_would(repeats: int) -> None:
    for outcomes in product(OUTCOMES, repeat=repeats):
        votes, batches = asked(Majority(repeats=repeats), outcomes)
        everything = sum(outcomes, Votes())
        assert (votes.candidate * 2 > repeats) == (everything.candidate * 2 > repeats)
        assert sum(batches) == votes.repeats <= repeats


def test_two_of_three_that_agree_leave_the_third_out() -> None:
    assert asked(Majority(repeats=3), (CANDIDATE, CANDIDATE))[1] == [2]
    assert asked(Majority(repeats=3), (UNDECIDED, CHAMPION))[1] == [2]
    assert asked(Majority(repeats=3), (CANDIDATE, CHAMPION, CANDIDATE))[1] == [2, 1]


@pytest.mark.parametrize("in_doubt", [False, True])
@pytest.mark.parametrize("by", [1, 2])
def test_a_lead_is_decided_as_by_all_repeats_one_after_the_other(by: int, in_doubt: bool) -> None:
    rule = Lead(by=by, in_doubt=in_doubt)
    for outcomes in product(OUTCOMES, repeat=LONGEST * by):
        votes, batches = asked(rule, outcomes)
        assert votes.repeats == sum(batches) <= LONGEST * by
        assert rule.accepts(votes) is accepted_one_by_one(by, in_doubt, outcomes)


def accepted_one_by_one(by: int, in_doubt: bool, outcomes: tuple[Votes, ...]) -> bool:
    lead = 0
    for outcome in outcomes:
        lead += outcome.lead
        if abs(lead) == by:
            return lead > 0
    return in_doubt


def test_no_repeat_is_made_that_a_clear_lead_does_not_need() -> None:
    rule = Lead(by=2)
    assert asked(rule, (CANDIDATE, CANDIDATE))[1] == [2]
    assert asked(rule, (CANDIDATE, UNDECIDED, CANDIDATE))[1] == [2, 1]
    assert asked(rule, (CANDIDATE, CHAMPION, CHAMPION, CHAMPION))[1] == [2, 2]


def test_what_cannot_become_clear_any_more_is_not_asked_for() -> None:
    losing = (CHAMPION, *[UNDECIDED] * 5)
    assert asked(Lead(by=2), losing)[0].repeats == 4, "two more would make a lead of one"
    assert asked(Lead(by=2, in_doubt=True), losing)[0].repeats == 6
