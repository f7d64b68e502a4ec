import pytest

from benchmarks.report import Figure, Report


@pytest.mark.parametrize(
    ("value", "verdict"), [(4.9, ">= 5 x: MISSED"), (5, ">= 5 x: met"), (5.1, ">= 5 x: met")]
)
def test_a_figure_with_a_least_is_met_from_there_on(value: float, verdict: str) -> None:
    assert Figure(what="gain", value=value, unit="x", least=5).verdict == verdict


@pytest.mark.parametrize(
    ("value", "verdict"), [(4.9, "<= 5 ms: met"), (5, "<= 5 ms: met"), (5.1, "<= 5 ms: MISSED")]
)
def test_a_figure_with_a_most_is_met_up_to_there(value: float, verdict: str) -> None:
    assert Figure(what="time", value=value, unit="ms", most=5).verdict == verdict


def test_a_figure_without_a_goal_has_no_verdict() -> None:
    assert not Figure(what="time", value=1, unit="ms").verdict


def test_a_report_shows_each_figure_with_its_verdict() -> None:
    figure = Figure(what="gain", value=7.25, unit="x", least=5)
    text = Report(title="redis: a title", method="How.", figures=(figure,)).as_text()
    assert text.splitlines() == ["redis: a title", "  How.", "  gain  7.25 x  >= 5 x: met"]
