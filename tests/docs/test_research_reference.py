"""docs/research.md against the settings, steps and limits of the code.

Its diagrams and its nodes are compared in `tests/sifaka/research/test_diagrams.py`.
"""

import inspect
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast, get_args

from sifaka.evidence.documents import SourceDocument
from sifaka.record.research_question import TERMINAL, Inquiry, ResearchStep
from sifaka.record.run import Run
from sifaka.record.usage import Usage
from sifaka.research.agents import (
    KNOWLEDGE_GAP,
    PARSER,
    PLANNER,
    SHOULD_CONTINUE,
    SYNTHESIZER,
    THINKING,
    TOOL_SELECTOR,
)
from sifaka.research.iterative import MOST_JUDGED
from sifaka.research.report import Report
from sifaka.research.state import ORDER, Finding, ReportSection
from sifaka.tasks.inquiry import MOST_ITERATIONS, MOST_SECTIONS
from sifaka_mcp.tools.research import research
from tests.docs.markdown import code, section, table

DOCUMENT = "docs/research.md"


def test_every_setting_is_told_with_its_default() -> None:
    rows = {code(row[0])[0]: row[1] for row in table(section(DOCUMENT, "Two modes"))}
    assert list(rows) == list(Inquiry.model_fields)
    told = {"adapters": "all", "sources": "", "section_budget": ""}
    for name, field in Inquiry.model_fields.items():
        assert rows[name].strip("`") == told.get(name, str(field.default)), name


def test_every_step_is_told_and_the_last_ones_end_a_run() -> None:
    steps = [code(row[0])[0] for row in table(section(DOCUMENT, "As a run"))]
    assert sorted(steps) == sorted(get_args(ResearchStep))
    assert set(steps[-len(TERMINAL) :]) == TERMINAL
    assert len(TERMINAL) == 4
    assert "Exactly one of the last four" in section(DOCUMENT, "As a run")


def test_what_the_record_of_a_report_holds_is_told() -> None:
    told = set(code(section(DOCUMENT, "The report")))
    finding = Finding(
        number=1,
        document=SourceDocument(text="31 metres.", title="Skär"),
        source="skär",
        query="light",
        classification="perfect",
    )
    light = ReportSection(
        number=0, title="Light", status="done", text="High [1].", findings=(finding,)
    )
    report = Report(mode="deep", title="Skär", sections=(light,))
    now = datetime.now(UTC)
    run = Run(run_id="run_0123456789abcdef", prompt="How high?", created_at=now, updated_at=now)
    thought = report.as_thought(run, author="research", usage=Usage())
    kept = cast("Mapping[str, Any]", thought.metadata["research"])
    assert {*kept, *kept["sections"][0], *kept["references"][0]} <= told


def test_limits_that_are_reached_are_told_in_their_order() -> None:
    text = section(DOCUMENT, "Budgets")
    (told,) = re.findall(r"in this order: ([^.]+)\.", text)
    assert tuple(code(told)) == ORDER


def test_the_calls_are_counted_as_the_code_makes_them() -> None:
    agents = len((THINKING, KNOWLEDGE_GAP, SHOULD_CONTINUE, TOOL_SELECTOR))
    inquiry = Inquiry()
    of_iteration = agents + MOST_JUDGED
    of_section = of_iteration * inquiry.max_iterations - 1 + 1
    of_the_whole = len((PARSER, PLANNER, SYNTHESIZER)) + 6 - 1
    told = [int(number) for number in re.findall(r"\d+", section(DOCUMENT, "Budgets"))]
    assert told[:4] == [of_iteration, MOST_JUDGED, of_section, of_section * 6 + of_the_whole]
    assert inquiry.max_sections == 6


def test_the_bounds_of_the_tool_are_those_of_an_inquiry() -> None:
    schema = Inquiry.model_json_schema()["properties"]
    assert schema["max_sections"]["maximum"] == MOST_SECTIONS
    assert schema["max_iterations"]["maximum"] == MOST_ITERATIONS
    text = section("docs/tools.md", "research")
    assert f"1 to {MOST_SECTIONS} sections" in text
    assert f"1 to {MOST_ITERATIONS} rounds" in text
    wait = inspect.signature(research.function).parameters["wait_seconds"].default
    assert f"`wait_seconds` ({wait:g})" in section(DOCUMENT, "From tools and the command line")
