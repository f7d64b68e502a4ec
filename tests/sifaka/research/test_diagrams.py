"""The diagrams of the documents are those of the code."""

from typing import Any

import pytest
from pydantic_graph import Decision, Graph, Step

from sifaka.record.research_question import Inquiry
from sifaka.research.agents import (
    KNOWLEDGE_GAP,
    LONG_WRITER,
    PLANNER,
    SHOULD_CONTINUE,
    SYNTHESIZER,
    THINKING,
    TOOL_SELECTOR,
    WRITER,
)
from sifaka.research.deep import deep_graph
from sifaka.research.iterative import iterative_graph
from sifaka.research.researcher import LONG
from tests.docs.markdown import blocks, read

DOCUMENT = "docs/research.md"
AGENTS = {"iterative": (THINKING, KNOWLEDGE_GAP, SHOULD_CONTINUE, TOOL_SELECTOR, WRITER),
          "deep": (PLANNER, LONG_WRITER, SYNTHESIZER)}  # fmt: skip
OTHERS = {"iterative": {"continue_decision", "execute_tools"},
          "deep": {"store_plan", "loop", "collect_drafts"}}  # fmt: skip
GRAPHS: tuple[Graph[Any, Any, Any, Any], ...] = (iterative_graph(), deep_graph())


def named(graph: Graph[Any, Any, Any, Any]) -> str:
    assert graph.name is not None
    return graph.name


@pytest.mark.parametrize("graph", GRAPHS, ids=named)
def test_each_graph_is_drawn_in_the_documents_as_it_is_run(
    graph: Graph[Any, Any, Any, Any],
) -> None:
    drawn = [block.content.strip() for block in blocks(DOCUMENT, "mermaid")]
    diagram = graph.render(direction="LR")
    assert diagram in drawn, f"put this into {DOCUMENT}:\n{diagram}"


@pytest.mark.parametrize("graph", GRAPHS, ids=named)
def test_the_nodes_are_the_named_ones_and_each_agent_has_its_own(
    graph: Graph[Any, Any, Any, Any],
) -> None:
    nodes = {str(key) for key, each in graph.nodes.items() if isinstance(each, Step | Decision)}
    agents = {agent.name for agent in AGENTS[named(graph)]}
    assert nodes == agents | OTHERS[named(graph)]


def test_every_node_of_the_loop_and_every_setting_is_in_the_tables() -> None:
    page = read(DOCUMENT)
    kinds = {"continue_decision": "decision", "execute_tools": "state"}
    for name in {agent.name for agent in AGENTS["iterative"]} | OTHERS["iterative"]:
        assert f"| `{name}` | {kinds.get(name, 'agent')} |" in page
    for setting in Inquiry.model_fields:
        assert f"| `{setting}` |" in page
    assert f"at least {LONG} words" in page.replace("\n", " ")
