"""The consensus world: what is certain, and whether issues in other words are one."""

import pytest

from benchmarks.quality.closed_forms import precision_and_recall
from benchmarks.quality.consensus import FALSE, FINDINGS, REAL, TEXT, Panel, Review, play
from benchmarks.quality.consensus_table import agreement_of, measure, table_of

PANEL = Panel(samples=3, found=1.0, invented=0.0, reviews=4, seed="test")


def test_every_quote_stands_in_the_text_once() -> None:
    for finding in FINDINGS:
        assert [TEXT.count(quote) for quote in finding.quotes] == [1, 1]


@pytest.mark.parametrize(
    ("panel", "review"),
    [
        (PANEL, Review(right=REAL, wrong=0)),
        (
            Panel(samples=5, found=1.0, invented=1.0, reviews=12, seed="test"),
            Review(right=REAL, wrong=FALSE),
        ),
        (
            Panel(samples=3, found=0.0, invented=0.0, reviews=2, seed="test"),
            Review(right=0, wrong=0),
        ),
    ],
    ids=["once what all report", "in other words merged", "nothing of nothing"],
)
def test_what_is_certain_is_reported(panel: Panel, review: Review) -> None:
    assert set(play(panel)) == {review}


def test_precision_and_recall_are_over_all_reviews() -> None:
    agreement = agreement_of(PANEL, [Review(right=4, wrong=0), Review(right=2, wrong=2)])

    assert agreement.precision == pytest.approx(6 / 8)
    assert agreement.recall == pytest.approx(6 / 8)


@pytest.mark.slow
def test_the_engine_comes_near_the_closed_form_in_few_reviews() -> None:
    agreements = measure(20, "test", None)

    for agreement in agreements:
        panel = agreement.panel
        expected = precision_and_recall(panel.samples, panel.found, panel.invented, REAL, FALSE)
        assert agreement.precision == pytest.approx(expected[0], abs=0.15)
        assert agreement.recall == pytest.approx(expected[1], abs=0.15)
    assert len(table_of(agreements).rows) == len(agreements)
