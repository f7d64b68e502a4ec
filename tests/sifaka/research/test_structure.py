"""A graph is looked through before it is run: all of its problems are listed, by node."""

from typing import Any

import pytest

from sifaka.errors import ConfigurationError
from sifaka.research.deep import deep_graph
from sifaka.research.execution import run_graph
from sifaka.research.graph import DecisionNode, Done, Edge, ParallelNode, ResearchGraph, StepNode
from sifaka.research.graph_builder import Board
from sifaka.research.graph_check import validate_structure
from sifaka.research.iterative import iterative_graph


async def passing(work: Any, state: Any, value: Any) -> Done[Any]:
    del work
    return Done(state, value)


def refuse(work: Any, state: Any, value: Any) -> str:
    raise AssertionError("a decision was asked")


def step(node_id: str) -> StepNode[Any, Any]:
    return StepNode(id=node_id, kind="state", run=passing)


def choice(node_id: str) -> DecisionNode[Any, Any]:
    return DecisionNode(id=node_id, decide=refuse)


def graph(*nodes: Any, edges: tuple[Edge, ...], entry: str = "a", **fields: Any) -> Any:
    given: dict[str, Any] = {"name": "drawn", "exits": ("z",), **fields}
    return ResearchGraph[Any, Any](entry=entry, nodes=nodes, edges=edges, **given)


def flaws(drawn: Any) -> list[tuple[str, str]]:
    return [(each.node, each.flaw) for each in validate_structure(drawn)]


def test_both_graphs_of_research_are_sound() -> None:
    assert validate_structure(iterative_graph()) == ()
    assert validate_structure(deep_graph()) == ()


def test_their_nodes_and_edges_are_the_named_ones() -> None:
    loop, deep = iterative_graph(), deep_graph()
    assert [node.id for node in loop.nodes] == [
        "thinking", "knowledge_gap", "continue_decision", "tool_selector", "execute_tools",
        "writer",
    ]  # fmt: skip
    assert [(edge.source, edge.target) for edge in loop.edges] == [
        ("thinking", "knowledge_gap"),
        ("knowledge_gap", "continue_decision"),
        ("continue_decision", "tool_selector"),
        ("continue_decision", "writer"),
        ("tool_selector", "execute_tools"),
        ("execute_tools", "thinking"),
    ]
    assert [node.id for node in deep.nodes if node.id != "loop"] == [
        "planner", "store_plan", "parallel_loops", "collect_drafts", "synthesizer",
    ]  # fmt: skip
    kinds = {node.id: node.kind for node in (*loop.nodes, *deep.nodes)}
    assert set(kinds.values()) == {"agent", "state", "decision", "parallel"}
    assert kinds["execute_tools"] == kinds["store_plan"] == "state"
    assert {edge.kind for edge in (*loop.edges, *deep.edges)} == {
        "sequential", "conditional", "parallel",
    }  # fmt: skip


def test_a_missing_entry_is_told() -> None:
    drawn = graph(step("z"), edges=(), entry="a")
    assert ("a", "missing_entry") in flaws(drawn)


def test_a_graph_without_an_exit_is_told() -> None:
    drawn = graph(step("a"), step("b"), edges=(Edge("a", "b"), Edge("b", "a")), exits=())
    assert ("drawn", "no_exit") in flaws(drawn)


def test_a_dead_end_is_told() -> None:
    edges = (Edge("a", "b", "conditional"), Edge("a", "z", "conditional"))
    assert flaws(graph(choice("a"), step("b"), step("z"), edges=edges)) == [("b", "dead_end")]


def test_an_unreachable_node_is_told() -> None:
    edges = (Edge("a", "z"), Edge("b", "z"))
    drawn = graph(step("a"), step("b"), step("z"), edges=edges)
    assert flaws(drawn) == [("b", "unreachable")]


def test_an_unknown_target_and_an_unknown_source_are_told() -> None:
    edges = (Edge("a", "nowhere"), Edge("ghost", "z"))
    drawn = graph(step("a"), step("z"), edges=edges)
    assert flaws(drawn) == [
        ("a", "unknown_target"),
        ("ghost", "unknown_source"),
        ("z", "unreachable"),
    ]


def test_an_unknown_child_is_told() -> None:
    edges = (Edge("a", "b", "parallel"), Edge("a", "c", "parallel"), Edge("b", "z"))
    drawn = graph(ParallelNode[Any, Any](id="a"), step("b"), step("z"), edges=edges)
    assert flaws(drawn) == [("a", "unknown_child")]


def test_a_duplicate_id_is_told_once() -> None:
    drawn = graph(step("a"), step("a"), step("a"), step("z"), edges=(Edge("a", "z"),))
    assert flaws(drawn) == [("a", "duplicate_id")]


def test_a_cycle_that_cannot_exit_is_told_once_with_its_nodes() -> None:
    edges = (
        Edge("a", "b", "conditional"),
        Edge("a", "z", "conditional"),
        Edge("b", "c"),
        Edge("c", "b"),
    )
    drawn = graph(choice("a"), step("b"), step("c"), step("z"), edges=edges)
    (problem,) = validate_structure(drawn)
    assert (problem.node, problem.flaw) == ("b", "endless_cycle")
    assert "b, c" in problem.message


def test_a_step_that_leads_to_itself_alone_is_such_a_cycle() -> None:
    edges = (Edge("a", "a"),)
    assert ("a", "endless_cycle") in flaws(graph(step("a"), step("z"), edges=edges))


def test_cycles_with_an_exit_are_legal_and_conditions_are_not_evaluated() -> None:
    edges = (
        Edge("a", "b"),
        Edge("b", "a", "conditional"),
        Edge("b", "z", "conditional"),
    )
    assert validate_structure(graph(step("a"), choice("b"), step("z"), edges=edges)) == ()


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ([step("a"), step("b"), step("z")], [Edge("a", "b"), Edge("a", "z"), Edge("b", "z")]),
        ([choice("a"), step("z")], [Edge("a", "z")]),
        ([step("a"), step("z")], [Edge("a", "z", "conditional")]),
        ([step("a"), step("z")], [Edge("a", "z"), Edge("z", "a")]),
        ([choice("a"), choice("b"), step("z")], [Edge("a", "b", "conditional"),
                                                Edge("b", "z", "conditional")]),
    ],
)  # fmt: skip
def test_edges_that_do_not_fit_their_node_are_told(nodes: list[Any], edges: list[Edge]) -> None:
    drawn = graph(*nodes, edges=tuple(edges))
    assert {flaw for _, flaw in flaws(drawn)} == {"wrong_edges"}


def test_children_that_a_parallel_node_cannot_wait_for_are_told() -> None:
    fork = ParallelNode[Any, Any](id="a")
    apart = (
        Edge("a", "b", "parallel"), Edge("a", "c", "parallel"), Edge("b", "z"), Edge("c", "d"),
        Edge("d", "z"),
    )  # fmt: skip
    drawn = graph(fork, step("b"), step("c"), step("d"), step("z"), edges=apart)
    assert flaws(drawn) == [("a", "wrong_edges")]
    over = ParallelNode[Any, Any](id="a", over=lambda work, state, value: ())
    together = (
        Edge("a", "b", "parallel"), Edge("a", "c", "parallel"), Edge("b", "z"), Edge("c", "z"),
    )  # fmt: skip
    assert flaws(graph(over, step("b"), step("c"), step("z"), edges=together)) == [
        ("a", "wrong_edges")
    ]
    assert flaws(graph(fork, step("b"), step("c"), step("z"), edges=together)) == []


def test_all_problems_are_listed_at_once() -> None:
    nodes = (step("b"), step("b"), choice("c"), step("d"))
    edges = (Edge("c", "nowhere", "conditional"), Edge("x", "b"))
    found = {flaw for _, flaw in flaws(graph(*nodes, edges=edges, exits=()))}
    assert found == {
        "missing_entry", "no_exit", "duplicate_id", "unknown_source", "unknown_target",
        "unreachable", "dead_end",
    }  # fmt: skip


@pytest.mark.anyio
async def test_a_flawed_graph_is_refused_before_anything_of_it_is_run() -> None:
    ran: list[str] = []

    async def note(work: Any, state: Any, value: Any) -> Done[Any]:
        ran.append("a")
        return Done(state, value)

    first = StepNode[Any, Any](id="a", kind="state", run=note)
    drawn = graph(first, step("b"), edges=(Edge("a", "nowhere"),), exits=())
    with pytest.raises(ConfigurationError) as error:
        await run_graph(drawn, board=Board[Any](None), work=None, value=None)
    assert all(f"'{name}'" in error.value.message for name in ("drawn", "a", "b"))
    assert ran == []
