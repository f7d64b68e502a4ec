"""Chains that research by the graphs, over documents at hand."""

import pytest

from sifaka import Chain, Document
from sifaka.calls.host import HostAnswer, HostQuestion
from sifaka.errors import ModelProviderError
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.research_question import Inquiry

pytestmark = pytest.mark.anyio
QUESTION = "How did the oil lamps of the coast become gas lamps?"
DOCUMENTS = (
    Document(
        text="Oil lamps burned on the coast from 1811. Gas lamps took their place in 1884.",
        title="Lamps of the coast",
        url="https://wiki.test/Lamps",
    ),
    Document(text="The harbour sells fish.", title="Fish", url="https://wiki.test/Fish"),
)
REPORT = [{"type": "report"}, {"type": "evidence", "search": False, "required": False}]


def chain(**settings: object) -> Chain:
    given: dict[str, object] = {
        "adapters": Adapters([InProcessAdapter(DOCUMENTS)]),
        "inquiry": Inquiry(mode="deep"),
        "validators": REPORT,
        **settings,
    }
    return Chain(**given)  # type: ignore[arg-type]  # settings of all kinds


async def test_without_a_model_there_is_a_dossier_that_the_caller_writes_the_report_from() -> None:
    chained = chain()
    waiting = await chained.run(QUESTION)
    assert (waiting.status, waiting.research["written"]) == ("needs_revision", False)
    assert waiting.brief is not None
    assert [failure.validator for failure in waiting.brief.failures] == ["report"]
    assert "Gas lamps took their place in 1884" in waiting.text
    good = waiting.text.replace("_To be written._", "Gas took the place of oil in 1884 [1].")
    done = await chained.submit(waiting.run_id, waiting.brief.parent_id, good)
    assert (done.accepted, done.status, done.passed) == (True, "done", True), done.reason
    assert done.thought.validation_results["evidence"].passed


async def test_a_report_whose_references_nobody_has_found_is_turned_down() -> None:
    chained = chain()
    waiting = await chained.run(QUESTION)
    assert waiting.brief is not None
    made_up = waiting.text.replace("_To be written._", "So it is [1].").replace(
        "https://wiki.test/Lamps", "https://made-up.test"
    )
    bad = await chained.submit(waiting.run_id, waiting.brief.parent_id, made_up)
    assert bad.status == "needs_revision"
    assert bad.brief is not None
    told = " ".join(failure.message for failure in bad.brief.failures)
    assert "names none of the documents" in told


class Absent:
    """A host that answers nothing any more."""

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        raise ModelProviderError("the client has gone", code="unavailable")


@pytest.mark.parametrize("mode", ["iterative", "deep"])
async def test_where_the_model_fails_that_the_caller_stands_in_for_there_is_a_dossier(
    mode: str,
) -> None:
    inquiry = Inquiry.model_validate({"mode": mode})
    chained = chain(model="host", host=Absent(), fallback_models=("caller",), inquiry=inquiry)
    waiting = await chained.run(QUESTION)
    assert (waiting.status, waiting.run.handed_over) == ("needs_revision", True)
    assert any("researched without a model" in line for line in waiting.degraded)
    assert "Gas lamps took their place in 1884" in waiting.text
    alone = chain(model="host", host=Absent(), inquiry=inquiry)
    failed = await alone.run(QUESTION)
    assert (failed.status, failed.text) == ("failed", "")
