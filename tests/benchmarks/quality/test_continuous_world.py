"""The continuous world: its parts, what calls cost, and what certain judges come to."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.quality.arena import (
    BASE,
    CALLS,
    LIARS,
    MOST_WORSE,
    OTHERS,
    Score,
    equal_calls,
    own_settings,
    table_of,
)
from benchmarks.quality.contenders import POLICIES, Policy, at_equal_calls, at_own_settings
from benchmarks.quality.continuous import ContinuousWorld, Games, Judging, Parts, Results, play
from benchmarks.quality.samples import Mean

CLEAR = replace(BASE, judge_noise=0.0, critic_noise=0.0, position_bias=0.0).without_end()
RUNS = 20


def results(world: ContinuousWorld, **settings: Any) -> Results:
    return play(Games(world=world, settings={"patience": None, **settings}, runs=RUNS, seed="t"))


def test_a_judge_who_sees_clearly_never_takes_what_is_worse() -> None:
    found = results(CLEAR, policy="judged", max_iterations=3)

    assert min(found.gains) >= 0 < max(found.gains)


def test_a_judge_who_only_looks_at_the_order_has_no_vote() -> None:
    found = results(replace(CLEAR, position_bias=1.0), policy="judged", max_iterations=3)

    assert set(found.gains) == {0.0}


def test_the_naive_loop_moves_by_the_drift_of_each_step() -> None:
    found = results(replace(CLEAR, drift=-0.5, spread=0.0), policy="last", max_iterations=4)

    assert found.gains == pytest.approx([-2.0] * RUNS)


def test_a_satisfied_critic_ends_the_run() -> None:
    world = replace(CLEAR, drift=2.0, spread=0.0, threshold=BASE.threshold)

    assert set(results(world, policy="best", max_iterations=4).iterations) == {1}


def test_two_policies_meet_the_same_writer() -> None:
    last = results(CLEAR, policy="last", max_iterations=1).gains
    judged = results(CLEAR, policy="judged", max_iterations=1).gains

    assert judged == tuple(max(0.0, gain) for gain in last)


def test_what_is_wrong_for_a_reason_is_wrong_each_time() -> None:
    parts = Parts(replace(CLEAR, judge_noise=1.0, shared=1.0))
    texts = (parts.begin("seed"), "quality 0.01 version 1")

    asked = [parts.judge.prefers(*texts) for _ in range(10)]
    swapped = {parts.judge.prefers(*reversed(texts)) for _ in range(10)}

    assert len(set(asked)) == len(swapped) == 1
    assert set(asked) != swapped


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_a_policy_costs_what_it_says(policy: Policy) -> None:
    # Without drift or spread nothing is accepted, so nothing is looked back at.
    world = replace(CLEAR, drift=-1.0, spread=0.0)
    for steps in (1, 3):
        found = results(world, **policy.with_steps(steps).settings)
        assert set(found.calls) == {policy.once + policy.a_step * steps}


@pytest.mark.parametrize(("same_errors", "orders"), [(0.0, 1), (None, 2)])
def test_a_look_back_costs_the_orders_that_nobody_has_answered(
    same_errors: float | None, orders: int
) -> None:
    world = replace(CLEAR, drift=1.0, spread=0.0, same_errors=same_errors)
    settings: dict[str, Any] = {"policy": "best", "max_iterations": 2}
    assert set(results(world, **settings, look_back=1).calls) == {1 + 2 * 2 + orders}
    assert set(results(world, **settings, look_back=2).calls) == {1 + 2 * 2 + 2 * 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "world"),
    [("base", BASE), *(pytest.param(*each, marks=pytest.mark.servers) for each in OTHERS)],
)
def test_an_effort_seldom_returns_what_is_worse(name: str, world: ContinuousWorld) -> None:
    """The bounds are the goals; the whole simulation has 1,000 runs and the same ones."""
    for effort, most in MOST_WORSE.items():
        settings = next(each.settings for each in at_own_settings() if each.name == effort)
        games = Games(world=world, settings=settings, runs=200, seed="bounds")
        gains = play(games).gains
        assert sum(gain < 0 for gain in gains) <= most * len(gains), (name, effort)
        assert sum(gains) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "world"), LIARS[:3])
def test_a_judge_who_always_says_the_same_makes_no_text_worse(
    name: str, world: ContinuousWorld
) -> None:
    for settings in ({"effort": "standard"}, {"effort": "thorough"}, {"policy": "judged"}):
        games = Games(world=world, settings=settings, runs=RUNS, seed="liars")
        assert set(play(games).gains) == {0.0}, name


@pytest.mark.slow
@pytest.mark.parametrize("judging", ["random", "refuses", "newer"])
def test_no_judge_makes_texts_worse_than_none(judging: Judging) -> None:
    world = replace(BASE, judging=judging)
    for policy in ("best", "best_of_n"):
        worse = [
            sum(gain < 0 for gain in results(world, policy=policy, look_back=lead).gains)
            for lead in (0, 2)
        ]
        assert worse[1] <= worse[0]


def test_equal_calls_are_nearly_equal() -> None:
    for policy in POLICIES:
        cost = policy.once + policy.at_end + policy.a_step * _steps(policy)
        assert abs(cost - CALLS) <= policy.a_step / 2


def _steps(policy: Policy) -> int:
    return int(policy.with_calls(CALLS).settings["max_iterations"])


def test_the_contenders_have_names_of_their_own() -> None:
    for contenders in (at_own_settings(), at_equal_calls(CALLS)):
        names = [contender.name for contender in contenders]
        assert len(set(names)) == len(names)


@pytest.mark.slow
def test_the_arena_scores_each_contender_and_compares_at_equal_calls() -> None:
    own = own_settings(4, "t", None)
    equal = equal_calls(4, "t", None)

    assert [score.contender for score in own] == [c.name for c in at_own_settings()]
    assert all(score.against_best_of_n is None for score in own)
    rival = next(score for score in equal if score.against_best_of_n is None)
    assert rival.contender.startswith("best_of_n, n=3")
    for score in equal:
        if score.against_best_of_n is not None:
            lead = score.gain.value - rival.gain.value
            assert score.against_best_of_n.value == pytest.approx(lead)


@pytest.mark.parametrize(
    ("lead", "loses"), [((-0.5, -0.6), True), ((-0.5, 0.4), False), ((0.5, 0.6), False)]
)
def test_a_loss_is_named_when_it_is_clear(lead: tuple[float, float], loses: bool) -> None:
    mean = Mean(blocks=(0.0, 0.0))
    score = Score(
        world="w",
        contender="c",
        gain=mean,
        worse=mean,
        unchanged=mean,
        calls=mean,
        against_best_of_n=Mean(blocks=lead),
    )

    assert score.loses is loses
    assert ("loses" in table_of("t", "title", [score]).as_text()) is loses
