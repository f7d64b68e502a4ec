"""The critic `evidence`."""

from typing import Any

import pytest

from sifaka.calls.component import Binding
from sifaka.critics import EvidenceCritic, parse_critics
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.sources.collection import NONE, Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Document, Thought
from tests.sifaka.critics.scripted_judge import ScriptedJudge
from tests.sifaka.evidence.claims.reader import reads
from tests.sifaka.evidence.scripted_adapter import page

pytestmark = pytest.mark.anyio

PAGE = page("tower", "The tower is 330 metres high.")


async def heard(text: str, judge: ScriptedJudge | None, **options: Any) -> CriticFeedback:
    adapters = Adapters([InProcessAdapter([PAGE], name="shelf")])
    checker = EvidenceChecker(adapters, None if judge is None else judge.model)
    critic = EvidenceCritic(**options).bind(Binding(checker=checker))
    return await critic.critique(Thought(text=text))


async def test_it_asks_for_a_revision_only_when_something_blocks() -> None:
    judge = ScriptedJudge(reads)
    wrong = await heard("The tower is 300 metres high.", judge)
    assert (wrong.verdict, dict(wrong.scores), wrong.judges_task) == (
        "revise",
        {"evidence": 0.0},
        False,
    )
    assert [issue.severity for issue in wrong.issues] == [5]
    right = await heard("The tower is 330 metres high.", judge)
    assert (right.verdict, right.issues) == ("accept", ())
    unknown = await heard("The tower has 12 red lifts for guests.", judge)
    assert (unknown.verdict, [issue.severity for issue in unknown.issues]) == ("accept", [2])
    assert right.usage.model_calls == 2
    assert right.details["claims"]


async def test_it_abstains_with_a_reason_when_nothing_could_be_judged() -> None:
    text = "The tower is 330 metres high."
    without = await heard("The tower has been painted red since 1968.", None)
    assert (without.status, without.verdict) == ("abstained", None)
    assert without.reason == "no_evidence: 1 claim: 1 unverified (there is no model)"
    failing = await heard(text, ScriptedJudge(ModelProviderError("refused", error_code="rejected")))
    assert (failing.status, "refused" in (failing.reason or "")) == ("abstained", True)
    nothing = await heard("  ", ScriptedJudge(reads))
    assert nothing.reason == "no_evidence: no claims to check"


async def test_without_adapters_it_judges_by_the_documents_of_the_version() -> None:
    checker = EvidenceChecker(NONE, ScriptedJudge(reads).model)
    critic = EvidenceCritic().bind(Binding(checker=checker, search=False))
    thought = Thought(text="The tower is 330 metres high.")
    assert (await critic.critique(thought)).reason == "no_evidence: there are no documents"
    given = thought.add_post_generation_context([Document(text=PAGE.text)])
    assert (await critic.critique(given)).verdict == "accept"


async def test_it_is_a_spec_with_the_options_of_the_validator() -> None:
    (critic,) = parse_critics([{"type": "evidence", "adapters": ["wiki"], "max_claims": 5}])
    assert isinstance(critic, EvidenceCritic)
    assert (critic.options.adapters, critic.options.max_claims) == (("wiki",), 5)
    with pytest.raises(ConfigurationError, match="nothing to check claims with"):
        await critic.critique(Thought(text="x"))


def test_the_calls_it_needs_are_none_without_a_model_and_two_with_one() -> None:
    judge = ScriptedJudge(reads)
    assert EvidenceCritic().calls() == 0
    assert EvidenceCritic(checker=EvidenceChecker(NONE, None)).calls() == 0
    assert EvidenceCritic(checker=EvidenceChecker(NONE, judge.model)).calls() == 2
