"""The deep graph: sections beside each other, and what they amount to together."""

import re

import anyio
import pytest

from sifaka.calls.host import HostQuestion, Suspended
from sifaka.errors import ModelProviderError, SifakaError, StorageError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.entries import Researched
from sifaka.record.research_question import Inquiry
from sifaka.record.thought import Thought
from sifaka.research.researcher import GraphResearcher
from sifaka.validators.report import ReportValidator
from tests.sifaka.critics.scripted_judge import Answer, Asked
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, page
from tests.sifaka.research.bench import (
    Bench,
    Scholar,
    agent_of,
    plan_of,
    select,
    shelf,
    support,
    think,
    told,
    write,
)

pytestmark = pytest.mark.anyio

DEEP = Inquiry(mode="deep")


def about(asked: Asked) -> str:
    """The section that an agent works on, by its question."""
    found = re.search(r"What of (\w+)\?", asked.question)
    assert found is not None
    return found[1]


def of_section(asked: Asked) -> Answer:
    """Searches that tell the sections apart."""
    return {"tasks": [{"query": f"{about(asked).lower()} lamps"}, {"query": "all lamps"}]}


def failing(section: str) -> Scholar:
    """A model that fails whenever it is asked about a section."""

    def fail(asked: Asked) -> Answer:
        if about(asked) == section:
            return ModelProviderError("refused", error_code="rejected")
        return {"observations": "..."}

    return Scholar(thinking=fail, tool_selector=of_section)


def headings(thought: Thought) -> list[str]:
    return re.findall(r"^## (.*)$", thought.text, re.MULTILINE)


async def test_the_report_has_the_sections_in_outline_order_and_one_numbering_for_all() -> None:
    bench = Bench(inquiry=DEEP)
    thought = await bench.research(Scholar(tool_selector=of_section).judge, shelf())
    assert headings(thought) == ["Oil", "Gas", "Wires", "References"]
    assert told(thought)["outline"] == ("Oil", "Gas", "Wires")
    assert ReportValidator().check(thought).passed
    assert thought.text.startswith("# The lamps\n\nIn short, lamps changed [1].\n\n## Oil")

    titles = [each["title"] for each in told(thought)["references"]]
    assert titles == [
        "Page about oil-lamps", "Page about all-lamps", "Page about gas-lamps",
        "Page about wires-lamps",
    ]  # fmt: skip
    gas = thought.text.partition("## Gas")[2].partition("##")[0]
    assert re.findall(r"\[\d\]", gas) == ["[3]", "[2]"]
    assert [d.title for d in thought.pre_generation_context] == titles
    assert all(d.url and d.metadata["retrieved_at"] for d in thought.pre_generation_context)

    assert bench.desk is not None
    assert bench.steps[0] == ("started", None)
    for step in ("section_started", "looping", "section_finished"):
        assert {n for each, n in bench.steps if each == step} == {0, 1, 2}
    assert (bench.desk.told[0].step, bench.desk.told[0].section) == ("thinking", None)
    assert (bench.desk.told[-1].step, bench.desk.told[-1].section) == ("synthesizing", None)


async def test_the_order_is_that_of_the_outline_whichever_section_ends_first() -> None:
    order: list[str] = []

    def slow(asked: Asked) -> Answer:
        order.append(about(asked))
        return write(asked)

    inquiry = Inquiry(mode="deep", max_iterations=3)

    def look(asked: Asked) -> Answer:
        rounds = {"Oil": "[5]", "Gas": "[3]", "Wires": "[1]"}[about(asked)]
        return {"research_complete": rounds in asked.question, "gaps": ["more"]}

    def search(asked: Asked) -> Answer:
        found = asked.question.count("Iteration")
        return {"tasks": [{"query": f"{about(asked)} {found} {n}"} for n in range(2)]}

    scholar = Scholar(writer=slow, knowledge_gap=look, tool_selector=search)
    thought = await Bench(inquiry=inquiry).research(scholar.judge, shelf())
    assert order == ["Wires", "Gas", "Oil"]
    assert headings(thought) == ["Oil", "Gas", "Wires", "References"]


async def test_so_many_sections_are_researched_at_the_same_time_as_the_inquiry_says() -> None:
    working: set[str] = set()
    most = 0

    def begin(asked: Asked) -> Answer:
        nonlocal most
        working.add(about(asked))
        most = max(most, len(working))
        return {"observations": "..."}

    def end(asked: Asked) -> Answer:
        working.discard(about(asked))
        return write(asked)

    titles = ("A", "B", "C", "D", "E")
    scholar = Scholar(planner=plan_of(*titles), thinking=begin, writer=end)
    await Bench(inquiry=Inquiry(mode="deep", parallel=2)).research(scholar.judge, shelf())
    assert most == 2


async def test_a_failed_branch_is_a_failed_section_under_its_own_title() -> None:
    bench = Bench(inquiry=DEEP)
    thought = await bench.research(failing("Gas").judge, shelf())
    assert headings(thought) == ["Oil", "Gas", "Wires", "References"]
    gas = thought.text.partition("## Gas\n\n")[2].partition("\n\n##")[0]
    assert gas == "_This section could not be researched: refused_"
    research = told(thought)
    assert research["partial"] is True
    assert [each["status"] for each in research["sections"]] == ["done", "failed", "done"]
    assert research["sections"][1]["error"] == "refused"
    assert "'Gas' failed: refused" in told(thought, "degraded")
    assert ReportValidator().check(thought).passed


async def test_of_a_bug_in_a_branch_only_its_kind_is_told() -> None:
    def broken(entry: Researched) -> None:
        if (entry.step, entry.section) == ("looping", 1):
            raise KeyError("secret words")

    thought = await Bench(inquiry=DEEP).research(Scholar().judge, shelf(), before=broken)
    research = told(thought)
    assert [each["status"] for each in research["sections"]] == ["done", "failed", "done"]
    assert research["sections"][1]["error"] == "KeyError"
    assert "secret" not in thought.model_dump_json()


async def test_when_all_sections_fail_the_run_fails_with_no_made_up_text() -> None:
    def fail(asked: Asked) -> Answer:
        return ModelProviderError("refused", error_code="rejected")

    scholar = Scholar(thinking=fail)
    bench = Bench(inquiry=DEEP)
    with pytest.raises(SifakaError, match="every section failed: 'Oil': refused; 'Gas'"):
        await bench.research(scholar.judge, shelf())
    assert scholar.of("synthesizer") == []
    assert bench.steps.count(("section_finished", 0)) == 1


async def test_a_summary_is_left_out_where_it_fails_and_cites_only_what_is_listed() -> None:
    scholar = Scholar(synthesizer=lambda _: ModelProviderError("refused", error_code="rejected"))
    thought = await Bench(inquiry=DEEP).research(scholar.judge, shelf())
    assert thought.text.startswith("# The lamps\n\n## Oil")
    assert "the report has no summary: refused" in told(thought, "degraded")
    assert told(thought)["partial"] is False
    scholar = Scholar(synthesizer=lambda _: {"summary": "All [1] and nothing [44]."})
    thought = await Bench(inquiry=DEEP).research(scholar.judge, shelf())
    assert "All [1] and nothing." in thought.text
    assert "the summary cited what was not found; removed: [44]" in told(thought, "degraded")


async def test_plans_have_some_sections_and_not_too_many() -> None:
    scholar = Scholar(planner=plan_of("A", "B", "B", "C", "D"))
    bench = Bench(inquiry=Inquiry(mode="deep", max_sections=3))
    thought = await bench.research(scholar.judge, shelf())
    assert told(thought)["outline"] == ("A", "B", "B (2)")
    assert "planned and left out: C, D" in told(thought, "degraded")
    assert "at most 3 sections" in scholar.of("planner")[0].question

    scholar = Scholar(planner=lambda _: {"title": "Lamps", "sections": []})
    thought = await Bench(inquiry=DEEP).research(scholar.judge, shelf())
    assert [each["title"] for each in told(thought)["sections"]] == ["Answer"]
    assert any("the report has one section" in line for line in told(thought, "degraded"))
    assert ReportValidator().check(thought).passed


async def test_a_store_that_fails_is_no_failed_section_and_ends_the_others() -> None:
    waiting, ended = anyio.Event(), list[str]()

    async def find(query: str) -> list[SourceDocument]:
        if query == "Oil":
            await waiting.wait()
            return [page("Oil")]
        waiting.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(query)
        raise AssertionError

    def search(asked: Asked) -> Answer:
        return {"tasks": [{"query": about(asked)}]}

    def full(entry: Researched) -> None:
        if (entry.step, entry.section) == ("looping", 0):
            raise StorageError("the disk is full")

    scholar = Scholar(tool_selector=search, planner=plan_of("Oil", "Gas"))
    with anyio.fail_after(20), pytest.raises(StorageError, match="the disk is full"):
        await Bench(inquiry=DEEP).research(scholar.judge, ScriptedAdapter(find), before=full)
    assert ended == ["Gas"]


async def test_questions_for_the_host_are_asked_together_and_the_other_sections_end() -> None:
    def ask(asked: Asked) -> Answer:
        if about(asked) == "Gas":
            return think(asked)
        question = HostQuestion(instructions="", prompt=about(asked), max_tokens=1)
        raise Suspended({about(asked): question})

    bench = Bench(inquiry=DEEP)
    with pytest.raises(Suspended) as suspended:
        await bench.research(Scholar(thinking=ask).judge, shelf())
    assert set(suspended.value.questions) == {"Oil", "Wires"}
    assert [number for step, number in bench.steps if step == "section_finished"] == [1]


@pytest.mark.slow
async def test_two_runs_on_one_researcher_share_nothing() -> None:
    scholar = Scholar(tool_selector=select, verifier=support)
    benches = [Bench(question=f"Question {n} of the coast?", inquiry=DEEP) for n in range(2)]
    reports: dict[int, Thought] = {}

    researcher = GraphResearcher(DEEP, Adapters([shelf()]), scholar.judge.model)

    async def work(number: int) -> None:
        reports[number] = await benches[number].research(None, researcher=researcher)

    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(work, number)
    assert [reports[n].run_id for n in range(2)] == [bench.run_id for bench in benches]
    writers = [each.question for each in scholar.of("writer")]
    assert [sum(f"Question {n}" in each for each in writers) for n in range(2)] == [3, 3]
    assert {agent_of(each) for each in scholar.asked} >= {"planner", "synthesizer"}
