"""Research without a model: an outline of the evidence, for the caller to write from."""

import pytest

from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.research_question import Inquiry
from sifaka.record.thought import Document
from sifaka.validators.report import ReportValidator
from tests.sifaka.research.bench import Bench, shelf, told

pytestmark = pytest.mark.anyio

PAGES = (
    Document(
        text="Bread needs flour, water, salt.", title="Bread", url="https://example.org/bread"
    ),
    Document(
        text="Whale oil was burned in the lamps of the coast until gas came. See also [7].",
        title="Lamps of the coast",
        url="https://example.org/lamps",
    ),
)


@pytest.mark.parametrize("mode", ["iterative", "deep"])
async def test_each_section_is_to_be_written_from_quotes_with_references(mode: str) -> None:
    bench = Bench(inquiry=Inquiry.model_validate({"mode": mode}))
    thought = await bench.research(None, InProcessAdapter(PAGES, name="pages"))
    research = told(thought)
    assert research["written"] is False
    assert thought.author == "research"
    for title in research["outline"]:
        assert f"## {title}\n\n_To be written._\n\n" in thought.text
    assert "until gas came. See also \\[7\\].” [1]" in thought.text
    assert "- [1] Lamps of the coast. <https://example.org/lamps>. Retrieved " in thought.text
    assert [d.url for d in thought.pre_generation_context] == ["https://example.org/lamps"]


async def test_it_is_told_to_be_degraded_and_nothing_is_turned_down() -> None:
    bench = Bench()
    thought = await bench.research(None, InProcessAdapter(PAGES, name="pages"))
    assert any("there is no model" in line for line in told(thought, "degraded"))
    (entry,) = [each for each in (await bench.stored()).research if each.step == "looping"]
    finding = entry.model_dump(mode="json")["state"]["findings"][0]
    assert finding["classification"] == "unverified"


async def test_the_sections_of_a_deep_outline_are_the_queries_of_the_keyword_plan() -> None:
    thought = await Bench(inquiry=Inquiry(mode="deep")).research(None, shelf())
    outline = told(thought)["outline"]
    assert outline[0] == "How did the lamps of the coast change?"
    assert len(outline) == 3


async def test_its_only_complaints_are_the_sections_that_are_not_written() -> None:
    thought = await Bench(inquiry=Inquiry(mode="deep")).research(None, shelf())
    result = ReportValidator().check(thought)
    assert {issue.rule for issue in result.issues} == {"unwritten"}


async def test_the_written_report_passes_with_the_same_documents() -> None:
    thought = await Bench(inquiry=Inquiry(mode="deep")).research(None, shelf())
    written = thought.text.replace("_To be written._", "As it is known [1].")
    assert ReportValidator().check(thought.with_text(written)).passed


async def test_it_goes_on_where_it_was_without_searching_again() -> None:
    bench, adapter = Bench(inquiry=Inquiry(mode="deep")), shelf()
    first = await bench.research(None, adapter)
    searches = len(adapter.asked)
    second = await bench.research(None, adapter)
    assert len(adapter.asked) == searches
    assert second.text == first.text
