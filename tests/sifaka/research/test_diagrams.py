"""The diagrams of the documents are those of the code."""

import pytest

from sifaka.record.inquiry import Inquiry
from sifaka.research.deep import deep_graph
from sifaka.research.execution import diagram
from sifaka.research.graph_check import AnyGraph
from sifaka.research.iterative import iterative_graph
from sifaka.research.mode import LONG
from tests.docs.markdown import blocks, read

DOCUMENT = "docs/research.md"


@pytest.mark.parametrize("graph", [iterative_graph(), deep_graph()], ids=lambda g: g.name)
def test_each_graph_is_drawn_in_the_documents_as_it_is_run(graph: AnyGraph) -> None:
    drawn = [block.content.strip() for block in blocks(DOCUMENT, "mermaid")]
    assert diagram(graph) in drawn, f"put this into {DOCUMENT}:\n{diagram(graph)}"


def test_every_node_of_the_loop_and_every_setting_is_in_the_tables() -> None:
    page = read(DOCUMENT)
    for node in iterative_graph().nodes:
        assert f"| `{node.id}` | {node.kind} |" in page
    for setting in Inquiry.model_fields:
        assert f"| `{setting}` |" in page
    assert f"at least {LONG} words" in page.replace("\n", " ")
