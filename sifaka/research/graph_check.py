"""What is wrong with the structure of a graph, all of it at once."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError
from sifaka.research.graph import Edge, EdgeKind, NodeKind, ParallelNode, ResearchGraph

Flaw = Literal[
    "missing_entry",
    "no_exit",
    "duplicate_id",
    "unknown_source",
    "unknown_target",
    "unknown_child",
    "unreachable",
    "dead_end",
    "endless_cycle",
    "wrong_edges",
]
AnyGraph: TypeAlias = ResearchGraph[Any, Any]


class Problem(Frozen):
    """One thing that is wrong with a graph."""

    node: str
    """The id of the node that it is about."""
    flaw: Flaw
    message: str


def validate_structure(graph: AnyGraph) -> tuple[Problem, ...]:
    """Every problem of a graph, in the order of the kinds of flaws.

    Decisions are not asked: a cycle is legal when some way leads out of it.
    """
    ids = tuple(dict.fromkeys(node.id for node in graph.nodes))
    edges = [edge for edge in graph.edges if edge.source in ids and edge.target in ids]
    return (
        *_entry_and_exits(graph, ids),
        *_duplicates(graph),
        *_unknown(graph, ids),
        *_unreachable(graph, ids, edges),
        *_dead_ends(graph, ids),
        *_endless(graph, ids, edges),
        *_edges_that_do_not_fit(graph),
    )


def refuse_flawed(graph: AnyGraph) -> None:
    """See that a graph can be run.

    Raises:
        ConfigurationError: It cannot; all its problems are listed.
    """
    if problems := validate_structure(graph):
        listed = "; ".join(f"{each.node!r}: {each.message}" for each in problems)
        raise ConfigurationError(
            f"the graph {graph.name!r} cannot be run: {listed}", "mend the graph's nodes and edges"
        )


def _entry_and_exits(graph: AnyGraph, ids: tuple[str, ...]) -> Iterator[Problem]:
    if graph.entry not in ids:
        yield Problem(node=graph.entry, flaw="missing_entry", message="the entry is no node")
    if not any(each in ids for each in graph.exits):
        yield Problem(node=graph.name, flaw="no_exit", message="no node is an exit")
    for each in graph.exits:
        if each not in ids:
            yield Problem(node=each, flaw="unknown_target", message="the exit is no node")


def _duplicates(graph: AnyGraph) -> Iterator[Problem]:
    all_ids = [node.id for node in graph.nodes]
    for each in dict.fromkeys(all_ids):
        if (count := all_ids.count(each)) > 1:
            yield Problem(node=each, flaw="duplicate_id", message=f"{count} nodes have this id")


def _unknown(graph: AnyGraph, ids: tuple[str, ...]) -> Iterator[Problem]:
    for edge in graph.edges:
        if edge.source not in ids:
            message = f"an edge to {edge.target!r} begins at no node"
            yield Problem(node=edge.source, flaw="unknown_source", message=message)
        if edge.target not in ids:
            is_child = edge.kind == "parallel"
            what = "child" if is_child else "target"
            flaw: Flaw = "unknown_child" if is_child else "unknown_target"
            yield Problem(node=edge.source, flaw=flaw, message=f"unknown {what} {edge.target!r}")


def _unreachable(graph: AnyGraph, ids: tuple[str, ...], edges: Iterable[Edge]) -> Iterator[Problem]:
    reached = _reached_from(graph.entry, edges) if graph.entry in ids else set[str]()
    for each in ids:
        if each not in reached:
            yield Problem(node=each, flaw="unreachable", message="no way leads here")


def _dead_ends(graph: AnyGraph, ids: tuple[str, ...]) -> Iterator[Problem]:
    for each in ids:
        if each not in graph.exits and not graph.after(each):
            message = "it is no exit, and no way leads on"
            yield Problem(node=each, flaw="dead_end", message=message)


def _endless(graph: AnyGraph, ids: tuple[str, ...], edges: list[Edge]) -> Iterator[Problem]:
    """Cycles that nothing leads out of; each is told once, at its first node."""
    reached = {each: _reached_from(each, edges) for each in ids}
    told: set[str] = set()
    for each in ids:
        cycle = {other for other in reached[each] if each in reached[other]}
        goes_round = len(cycle) > 1 or any(e.source == each == e.target for e in edges)
        left = reached[each] - cycle or cycle & {*graph.exits}
        # An edge to no node is a problem of its own, and leads nowhere.
        if goes_round and not left and each not in told:
            told |= cycle
            names = ", ".join(other for other in ids if other in cycle)
            message = f"nothing leads out of the cycle of {names}"
            yield Problem(node=each, flaw="endless_cycle", message=message)


def _reached_from(start: str, edges: Iterable[Edge]) -> set[str]:
    onward: dict[str, list[str]] = {}
    for edge in edges:
        onward.setdefault(edge.source, []).append(edge.target)
    reached, waiting = {start}, [start]
    while waiting:
        for target in onward.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


_LEADING: dict[NodeKind, EdgeKind] = {
    "agent": "sequential",
    "state": "sequential",
    "decision": "conditional",
    "parallel": "parallel",
}


def _edges_that_do_not_fit(graph: AnyGraph) -> Iterator[Problem]:
    kinds: dict[str, NodeKind] = {node.id: node.kind for node in graph.nodes}
    for node in graph.nodes:
        leading = graph.after(node.id)
        if misfits := [e.target for e in leading if e.kind != _LEADING[node.kind]]:
            message = f"its edges have to be {_LEADING[node.kind]}: {', '.join(misfits)}"
            yield Problem(node=node.id, flaw="wrong_edges", message=message)
        if node.id in graph.exits and (leading or node.kind not in ("agent", "state")):
            message = "an exit is a step from which no way leads on"
            yield Problem(node=node.id, flaw="wrong_edges", message=message)
        if _LEADING[node.kind] == "sequential" and len(leading) > 1:
            message = "only a decision or a parallel node leads to several"
            yield Problem(node=node.id, flaw="wrong_edges", message=message)
        if node.kind == "decision" and any(kinds.get(e.target) == "decision" for e in leading):
            message = "it leads to a decision: make both in one"
            yield Problem(node=node.id, flaw="wrong_edges", message=message)
        if isinstance(node, ParallelNode) and (message := _misled(graph, node.id, kinds)):
            yield Problem(node=node.id, flaw="wrong_edges", message=message)


def _misled(graph: AnyGraph, node_id: str, kinds: dict[str, NodeKind]) -> str | None:
    """What is wrong with the children of a parallel node."""
    children = [edge.target for edge in graph.after(node_id) if edge.target in kinds]
    if any(kinds[child] not in ("agent", "state") for child in children):
        return "its children have to be steps"
    if len({edge.target for child in children for edge in graph.after(child)}) > 1:
        return "its children have to lead to one node"
    others = [e.source for e in graph.edges if e.target in children and e.source != node_id]
    if others or graph.entry in children:
        return "only itself may lead to its children"
    joins = {edge.target for child in children for edge in graph.after(child)}
    if any(kinds.get(join) not in ("agent", "state", None) for join in joins):
        return "its children have to lead to a step"
    has_items = any(n.id == node_id and isinstance(n, ParallelNode) and n.over for n in graph.nodes)
    if has_items and len(children) > 1:
        return "over items it has one child"
    return None
