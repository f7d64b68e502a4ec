"""A graph of research, as data: nodes, edges, an entry and exits."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

W = TypeVar("W")
S = TypeVar("S")

NodeKind = Literal["agent", "state", "decision", "parallel"]
EdgeKind = Literal["sequential", "conditional", "parallel"]


@dataclass(frozen=True)
class Done(Generic[S]):
    """What a step has come to."""

    state: S
    """The state that takes the place of the one it was given."""
    output: Any
    """What the next node is given."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one branch of a parallel node: a value, or why there is none."""

    value: Any = None
    error: Exception | None = None


@dataclass(frozen=True, kw_only=True)
class StepNode(Generic[W, S]):
    """A node that works: `agent` asks an agent, `state` reads and renews the state.

    The state that a child of a parallel node returns is dropped: branches are isolated.
    """

    id: str
    kind: Literal["agent", "state"]
    run: Callable[[W, S, Any], Awaitable[Done[S]]]
    """Given what the graph works with, the state and what the node before has given."""


@dataclass(frozen=True, kw_only=True)
class DecisionNode(Generic[W, S]):
    """A node that chooses the next one; that is given what the decision was given."""

    id: str
    decide: Callable[[W, S, Any], str]
    """The id of the next node, one of those that its conditional edges lead to."""
    kind: Literal["decision"] = "decision"


@dataclass(frozen=True, kw_only=True)
class ParallelNode(Generic[W, S]):
    """A node whose children run at the same time, each given what the node was given.

    The node after the children is given a tuple of `Outcome`, in the order of the branches.
    """

    id: str
    over: Callable[[W, S, Any], Sequence[Any]] | None = None
    """With it, the only child runs once for each of these items."""
    kind: Literal["parallel"] = "parallel"


Node: TypeAlias = StepNode[W, S] | DecisionNode[W, S] | ParallelNode[W, S]


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one node to another.

    `sequential` is always taken, `conditional` when a decision chooses it, `parallel` leads from a
    parallel node to a child.
    """

    source: str
    target: str
    kind: EdgeKind = "sequential"
    label: str = ""
    """When it is taken, for diagrams."""


@dataclass(frozen=True, kw_only=True)
class ResearchGraph(Generic[W, S]):
    """Nodes and the ways between them."""

    name: str
    entry: str
    exits: tuple[str, ...]
    """Where it may end; what such a node gives is what the graph gives."""
    nodes: tuple[Node[W, S], ...]
    edges: tuple[Edge, ...]

    def after(self, node_id: str) -> tuple[Edge, ...]:
        """The edges that lead from a node, in their order."""
        return tuple(edge for edge in self.edges if edge.source == node_id)
