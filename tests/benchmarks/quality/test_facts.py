"""The guard of facts keeps to its goals on the labelled rewrites."""

import pytest

from benchmarks.quality.facts.measure import SETS, SetName, load, outcome


@pytest.mark.parametrize("name", SETS)
def test_few_bad_rewrites_pass_and_few_good_ones_are_refused(name: SetName) -> None:
    found = [outcome(case) for case in load(name)]
    assert sum(not each.caught for each in found) <= 0.02 * len(found)
    assert sum(bool(each.refused) for each in found) <= 0.03 * len(found)


def test_there_are_at_least_300_different_cases() -> None:
    cases = [case for name in SETS for case in load(name)]
    assert len({(case.text, case.task, case.bad) for case in cases}) >= 300
