"""Sixty texts with tasks: nothing that a bad writer does makes one worse."""

import os

import pytest

from benchmarks.prompts.answers import Answers
from benchmarks.prompts.cases import load
from benchmarks.prompts.never_worse import LAST, STANDARD, THOROUGH, run_all
from benchmarks.prompts.outcomes import table_of
from tests.real_model.conftest import KEPT, LONGEST
from tests.real_model.engine import Served

_KEY = os.environ.get("MODEL_KEY", "")
_TEXTS = int(os.environ.get("MODEL_TEXTS", "60"))


@pytest.mark.anyio
@pytest.mark.model
@pytest.mark.timeout(6 * 3600)
async def test_no_effort_makes_a_text_worse_but_the_policy_last_does(served: Served) -> None:
    KEPT.parent.mkdir(exist_ok=True)
    answers = Answers(served.url, served.model, KEPT, longest=LONGEST, key=_KEY)
    found = await run_all(load()[:_TEXTS], answers, calls=3, thorough_calls=11)
    print(table_of("model", f"\n{served.model}", found).as_text())  # noqa: T201 - published
    worse = [each for name in (STANDARD, THOROUGH) for each in found[name] if each.worse]
    assert not worse, "\n".join(f"{each.case.id}: {each.text!r}" for each in worse)
    if served.model == "smollm2":
        assert any(each.worse for each in found[LAST])
