"""From a graph of research to one of pydantic-graph."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import anyio

from sifaka.calls.host import Suspended
from sifaka.errors import SifakaError, StorageError
from sifaka.research.graph import DecisionNode, Edge, Outcome, ParallelNode, StepNode
from sifaka.research.graph_check import AnyGraph, refuse_flawed

if TYPE_CHECKING:
    from pydantic_graph import Graph, GraphBuilder, StepContext

S = TypeVar("S")


class Board(Generic[S]):
    """Where the state of one run of a graph stands.

    The state itself never changes: another one takes its place after a step has come to its end. A
    step that raises leaves the state as it was before.
    """

    def __init__(self, state: S) -> None:
        self.state = state


@dataclass(frozen=True, slots=True)
class Course:
    """What a run of a graph has besides its state."""

    work: Any
    limiter: anyio.Semaphore


@dataclass(frozen=True, slots=True)
class _Chosen:
    target: str
    value: Any


@dataclass(frozen=True, slots=True)
class _Branch:
    place: int
    value: Any


@dataclass(frozen=True, slots=True)
class _Ended:
    place: int
    outcome: Outcome
    suspended: Suspended | None = None


@lru_cache(maxsize=16)
def translated(graph: AnyGraph) -> "Graph[Any, Any, Any, Any]":
    """The graph as pydantic-graph runs it: its state is a `Board`, what it depends on a `Course`.

    Raises:
        ConfigurationError: The graph is flawed.
    """
    refuse_flawed(graph)
    from pydantic_graph import GraphBuilder

    builder = GraphBuilder[Any, Any, Any, Any](name=graph.name, auto_instrument=False)
    return _Building(graph, builder).build()


class _Building:
    """Translates a graph, piece by piece.

    pydantic-graph's paths are typed by what flows along them, which only the nodes know here.
    """

    def __init__(self, graph: AnyGraph, builder: "GraphBuilder[Any, Any, Any, Any]") -> None:
        self._graph = graph
        self._builder = builder
        self._nodes = {node.id: node for node in graph.nodes}
        self._branches = {
            edge.target: place
            for node in graph.nodes
            if isinstance(node, ParallelNode)
            for place, edge in enumerate(graph.after(node.id))
        }
        self._steps: dict[str, Any] = {
            node.id: builder.step(self._call(node), node_id=node.id)
            for node in graph.nodes
            if isinstance(node, StepNode)
        }
        self._decisions: dict[str, Any] = {}
        self._joins: dict[str, Any] = {}

    def build(self) -> "Graph[Any, Any, Any, Any]":
        builder, graph = self._builder, self._graph
        for node in graph.nodes:
            if isinstance(node, ParallelNode):
                self._joins[node.id] = self._join(node)
        for node in graph.nodes:
            if isinstance(node, DecisionNode):
                self._decisions[node.id] = self._decision(node)
        self._connect(builder.start_node, graph.entry)
        for node_id, step in self._steps.items():
            if node_id in graph.exits:
                builder.add(builder.edge_from(step).to(builder.end_node))
            elif node_id not in self._branches:
                (edge,) = graph.after(node_id)
                self._connect(step, edge.target, edge.label)
        return builder.build()

    def _connect(self, source: Any, target: str, label: str = "") -> None:
        path: Any = self._builder.edge_from(source)
        self._builder.add(self._onward(path.label(label) if label else path, target))

    def _onward(self, path: Any, target: str) -> Any:
        """A path that goes on to a node, whatever the node has to be given."""
        node = self._nodes[target]
        if isinstance(node, StepNode):
            return path.to(self._steps[target])
        if isinstance(node, DecisionNode):
            choose = _choosing(node, self._graph.after(target))
            return path.transform(choose).to(self._decisions[target])
        children = [self._steps[edge.target] for edge in self._graph.after(target)]
        if node.over is None:
            return path.to(*children, fork_id=target)
        spread = path.transform(_spreading(node.over))
        join_id = self._joins[target].id
        return spread.map(fork_id=target, downstream_join_id=join_id).to(children[0])

    def _decision(self, node: DecisionNode[Any, Any]) -> Any:
        decision: Any = self._builder.decision(node_id=node.id)
        for edge in self._graph.after(node.id):
            path: Any = self._builder.match(_Chosen, matches=_is_for(edge.target))
            path = path.label(edge.label) if edge.label else path
            decision = decision.branch(self._onward(path.transform(_given), edge.target))
        return decision

    def _join(self, node: ParallelNode[Any, Any]) -> Any:
        children = [edge.target for edge in self._graph.after(node.id)]
        join = self._builder.join(
            _collect, initial_factory=tuple[_Ended, ...], node_id=f"{node.id}_joined"
        )
        for child in children:
            self._builder.add(self._builder.edge_from(self._steps[child]).to(join))
        (then,) = {edge.target for child in children for edge in self._graph.after(child)}
        path: Any = self._builder.edge_from(join)
        self._builder.add(path.transform(_in_order).to(self._steps[then]))
        return join

    def _call(self, node: StepNode[Any, Any]) -> Any:
        if node.id in self._branches:
            return _branch(node, self._branches[node.id])

        async def step(ctx: Any) -> Any:
            done = await node.run(ctx.deps.work, ctx.state.state, ctx.inputs)
            ctx.state.state = done.state
            return done.output

        return step


def _branch(node: StepNode[Any, Any], place: int) -> Any:
    async def branch(ctx: Any) -> Any:
        given = ctx.inputs if isinstance(ctx.inputs, _Branch) else _Branch(place, ctx.inputs)
        try:
            async with ctx.deps.limiter:
                done = await node.run(ctx.deps.work, ctx.state.state, given.value)
        except StorageError:
            raise
        except Suspended as suspended:
            return _Ended(given.place, Outcome(), suspended)
        # It ends this branch and no other; the node after the branches decides what follows.
        except Exception as error:  # noqa: BLE001
            return _Ended(given.place, Outcome(error=error))
        return _Ended(given.place, Outcome(done.output))

    return branch


def _choosing(
    node: DecisionNode[Any, Any], edges: tuple[Edge, ...]
) -> "Callable[[StepContext[Any, Any, Any]], _Chosen]":
    known = tuple(edge.target for edge in edges)

    def choose(ctx: "StepContext[Any, Any, Any]") -> _Chosen:
        try:
            target = node.decide(ctx.deps.work, ctx.state.state, ctx.inputs)
        except Exception as error:
            said = error.message if isinstance(error, SifakaError) else type(error).__name__
            raise SifakaError(f"the decision {node.id!r} failed: {said}") from error
        if target not in known:
            raise SifakaError(
                f"the decision {node.id!r} chose {target!r}, to which it does not lead",
                f"it leads to {', '.join(known)}",
            )
        return _Chosen(target, ctx.inputs)

    return choose


def _spreading(over: Callable[[Any, Any, Any], Any]) -> Any:
    def spread(ctx: Any) -> list[_Branch]:
        items = over(ctx.deps.work, ctx.state.state, ctx.inputs)
        return [_Branch(place, item) for place, item in enumerate(items)]

    return spread


def _is_for(target: str) -> Callable[[Any], bool]:
    return lambda chosen: cast("_Chosen", chosen).target == target


def _given(ctx: Any) -> Any:
    return ctx.inputs.value


def _collect(before: tuple[_Ended, ...], one: _Ended) -> tuple[_Ended, ...]:
    return (*before, one)


def _in_order(ctx: Any) -> tuple[Outcome, ...]:
    """The outcomes in the order of the branches: they come in that of their ends."""
    ended = sorted(cast("tuple[_Ended, ...]", ctx.inputs), key=lambda each: each.place)
    if waiting := [each.suspended for each in ended if each.suspended is not None]:
        raise Suspended.together(waiting)
    return tuple(each.outcome for each in ended)
