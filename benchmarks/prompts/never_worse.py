"""Runs of `standard` and `thorough` with a model that writes badly, and of the policy `last`."""

from collections.abc import Mapping, Sequence

from benchmarks.prompts.__main__ import measure
from benchmarks.prompts.answers import Answers
from benchmarks.prompts.cases import Case
from benchmarks.prompts.contenders import ours
from benchmarks.prompts.outcomes import Outcome

STANDARD, THOROUGH, LAST = "standard", "thorough", "policy last"


async def run_all(
    cases: Sequence[Case], answers: Answers, *, calls: int, thorough_calls: int
) -> Mapping[str, Sequence[Outcome]]:
    """The outcomes by effort: every text with `standard` and `last`, every third `thorough`.

    Args:
        cases: The texts.
        answers: The model.
        calls: Model calls of a run, at most.
        thorough_calls: Those of a thorough run: a judge takes six for each comparison.
    """
    usual = {STANDARD: ours(), LAST: ours(policy="last")}
    found = await measure(usual, cases, answers, calls=calls)
    thorough = {THOROUGH: ours(effort="thorough")}
    return {**found, **await measure(thorough, cases[::3], answers, calls=thorough_calls)}
