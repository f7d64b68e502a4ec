"""Running a graph, on pydantic-graph."""

from typing import Any, TypeVar

import anyio

from sifaka.research.graph import ResearchGraph
from sifaka.research.graph_builder import Board, Course, translated
from sifaka.research.graph_check import AnyGraph

W = TypeVar("W")
S = TypeVar("S")


async def run_graph(
    graph: ResearchGraph[W, S], *, board: Board[S], work: W, value: Any, parallel: int = 4
) -> Any:
    """Run a graph to one of its exits.

    Nothing is kept between runs: the same graph may be run any number of times at once.

    Args:
        graph: What to run.
        board: Holds the state to begin with, and then that after the last step that succeeded.
        work: What every node is given to work with.
        value: What the entry is given.
        parallel: Branches of a parallel node that run at the same time.

    Returns:
        What the exit gives.

    Raises:
        ConfigurationError: The graph is flawed; nothing was run.
        SifakaError: A decision has failed or chosen what it does not lead to.
        StorageError: A step could not put something on record; branches beside it are cancelled.
        Suspended: Steps wait for answers of the host; the branches beside them have ended.
        Exception: What else a step has raised. Of a branch it is an `Outcome` instead.
    """
    course = Course(work, anyio.Semaphore(parallel))
    built = translated(graph)
    return await built.run(state=board, deps=course, inputs=value, infer_name=False)


def diagram(graph: AnyGraph) -> str:
    """The graph as a Mermaid state diagram, as pydantic-graph draws it.

    Raises:
        ConfigurationError: The graph is flawed.
    """
    return translated(graph).render(direction="LR")
