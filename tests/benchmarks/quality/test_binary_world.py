"""The binary world: its parts, and small cells of it on the engine."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.quality.binary import BinaryWorld, Block, Parts, draws_for, play
from benchmarks.quality.binary_grid import Cell, Grid, measure, table_of
from benchmarks.quality.samples import Mean

WORLD = BinaryWorld(start=0.5, repair=0.3, harm=0.1, accuracy=0.7, steps=3)
RUNS = 60


def shares(world: BinaryWorld) -> tuple[float, ...]:
    return play(Block(world=world, runs=RUNS, seed="test")).after


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # Good and bad change places in each step.
        ({"repair": 1.0, "harm": 1.0, "accuracy": None}, (0.5, 0.5, 0.5)),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ({"repair": 1.0, "harm": 1.0, "accuracy": 1.0}, (1.0, 1.0, 1.0)),
                ({"repair": 1.0, "harm": 1.0, "accuracy": 0.0}, (0.0, 0.0, 0.0)),
                ({"start": 0.75, "repair": 0.0, "harm": 0.0}, (0.75, 0.75, 0.75)),
            )
        ),
    ],
    ids=["naive", "a perfect judge", "one who is always wrong", "as many as the world says"],
)
def test_a_certain_world_has_certain_shares(
    changes: dict[str, Any], expected: tuple[float, ...]
) -> None:
    assert shares(replace(WORLD, **changes)) == expected


@pytest.mark.slow
def test_a_shorter_run_ends_where_a_longer_one_was_after_as_many_steps() -> None:
    world = replace(WORLD, accuracy=None)
    short = replace(world, steps=2)

    assert shares(short) == shares(world)[:2]


def test_a_vote_is_the_same_in_both_orders() -> None:
    parts = Parts(WORLD)
    parts.begin([0.5] * 4 + [0.1, 0.9] + [0.5] * 6)
    votes = [
        (parts.judge.prefers("good text 1", "bad text 0"),
         parts.judge.prefers("bad text 0", "good text 1"))
        for _ in range(2)
    ]  # fmt: skip

    # The draws are .1 and .9, and the judge is right below .7.
    assert votes == [("first", "second"), ("second", "first")]


def test_another_comparison_has_votes_of_its_own() -> None:
    parts = Parts(WORLD)
    parts.begin([0.5] * 4 + [0.1] * 2 + [0.9] * 6)

    assert parts.judge.prefers("good text 1", "bad text 0") == "first"
    assert parts.judge.prefers("good text 2", "bad text 0") == "second"


def test_there_are_draws_for_the_input_each_revision_and_each_vote() -> None:
    assert draws_for(WORLD) == 1 + 3 + 4 * 2, "two may meet in a step, and at the end"


@pytest.mark.slow
def test_the_engine_comes_near_the_closed_form_in_few_runs() -> None:
    grid = Grid(
        repair=(0.5,), harm=(0.1,), accuracy=(0.85,), steps=(1, 3), start=0.5,
        runs=100, seed="test",
    )  # fmt: skip

    cells = measure(grid)

    assert [(c.world.accuracy, c.steps, c.looked_back) for c in cells] == [
        (None, 1, False), (None, 3, False), (0.85, 1, False), (0.85, 3, False), (0.85, 3, True),
    ]  # fmt: skip
    for cell in cells:
        assert cell.measured.value == pytest.approx(cell.expected, abs=0.1)


@pytest.mark.parametrize(("measured", "agrees"), [(0.609, True), (0.611, False), (0.589, False)])
def test_a_cell_that_is_off_says_so(measured: float, agrees: bool) -> None:
    cell = Cell(
        world=replace(WORLD, accuracy=None),
        steps=1,
        looked_back=False,
        measured=Mean(blocks=(measured,)),
        expected=0.6,
    )

    assert cell.agrees is agrees
    assert ("OFF" in table_of([cell]).as_text()) is not agrees
