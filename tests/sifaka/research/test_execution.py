"""How a graph is run: its state, its decisions, and branches beside each other."""

from itertools import pairwise
from typing import Any

import anyio
import pytest

from sifaka.calls.host import HostQuestion, Suspended
from sifaka.errors import SifakaError, StorageError
from sifaka.research.execution import diagram, run_graph
from sifaka.research.graph import (
    DecisionNode,
    Done,
    Edge,
    Outcome,
    ParallelNode,
    ResearchGraph,
    StepNode,
)
from sifaka.research.graph_builder import Board

pytestmark = pytest.mark.anyio

State = tuple[str, ...]


async def note(work: Any, state: State, value: str) -> Done[State]:
    del work
    return Done((*state, value), value + "+")


def step(node_id: str, run: Any = note) -> StepNode[Any, State]:
    return StepNode(id=node_id, kind="state", run=run)


def line(*nodes: Any) -> ResearchGraph[Any, State]:
    ids = [node.id for node in nodes]
    edges = tuple(Edge(one, two) for one, two in pairwise(ids))
    return ResearchGraph(name="line", entry=ids[0], exits=(ids[-1],), nodes=nodes, edges=edges)


def choosing(decide: Any) -> ResearchGraph[Any, State]:
    """Goes round over `again` as long as the decision says so."""
    return ResearchGraph(
        name="choosing",
        entry="first",
        exits=("last",),
        nodes=(
            step("first"),
            DecisionNode(id="which", decide=decide),
            step("again"),
            step("last"),
        ),
        edges=(
            Edge("first", "which"),
            Edge("which", "again", "conditional"),
            Edge("which", "last", "conditional"),
            Edge("again", "first"),
        ),
    )


def spread(run: Any) -> ResearchGraph[Any, State]:
    async def gather(work: Any, state: State, outcomes: tuple[Outcome, ...]) -> Done[State]:
        return Done((*state, "gathered"), outcomes)

    def over(work: Any, state: State, value: Any) -> Any:
        return value

    return ResearchGraph(
        name="spread",
        entry="all",
        exits=("gather",),
        nodes=(ParallelNode(id="all", over=over), step("each", run), step("gather", gather)),
        edges=(Edge("all", "each", "parallel"), Edge("each", "gather")),
    )


async def test_each_node_is_given_what_the_node_before_has_given() -> None:
    board = Board[State](())
    output = await run_graph(
        line(step("a"), step("b"), step("c")), board=board, work=None, value="v"
    )
    assert (output, board.state) == ("v+++", ("v", "v+", "v++"))


async def test_a_step_that_raises_leaves_the_state_as_before_it() -> None:
    async def fail(work: Any, state: State, value: str) -> Done[State]:
        half = (*state, "half done")
        raise SifakaError(f"cannot go on after {len(half)}")

    board = Board[State](())
    with pytest.raises(SifakaError, match="cannot go on after 2"):
        await run_graph(
            line(step("a"), step("b", fail), step("c")), board=board, work=None, value="v"
        )
    assert board.state == ("v",)


async def test_a_decision_chooses_by_the_state_and_what_it_was_given() -> None:
    def decide(work: Any, state: State, value: str) -> str:
        return "again" if len(state) < work else "last"

    board = Board[State](())
    output = await run_graph(choosing(decide), board=board, work=5, value="")
    assert (output, len(board.state)) == ("++++++", 6)


async def test_a_decision_that_returns_an_undeclared_value_fails_the_run_by_name() -> None:
    def decide(work: Any, state: State, value: str) -> str:
        return "first"

    with pytest.raises(SifakaError, match=r"'which' chose 'first'.*leads to again, last"):
        await run_graph(choosing(decide), board=Board[State](()), work=None, value="")


async def test_a_decision_that_raises_fails_the_run_by_name_and_there_is_no_default() -> None:
    def decide(work: Any, state: State, value: str) -> str:
        raise KeyError("secret words")

    board = Board[State](())
    with pytest.raises(SifakaError, match="'which' failed: KeyError") as error:
        await run_graph(choosing(decide), board=board, work=None, value="")
    assert "secret" not in str(error.value)
    assert board.state == ("",)


async def test_outcomes_come_in_the_order_of_the_branches_whichever_ends_first() -> None:
    ended = [anyio.Event() for _ in range(4)]

    async def backwards(work: Any, state: State, value: int) -> Done[State]:
        if value < 3:
            await ended[value + 1].wait()
        ended[value].set()
        return Done(state, value)

    with anyio.fail_after(20):
        outcomes = await run_graph(
            spread(backwards), board=Board[State](()), work=None, value=range(4)
        )
    assert [each.value for each in outcomes] == [0, 1, 2, 3]


async def test_a_failed_branch_is_an_outcome_and_the_others_complete() -> None:
    failed = anyio.Event()

    async def run(work: Any, state: State, value: int) -> Done[State]:
        if value == 0:
            failed.set()
            raise KeyError(value)
        await failed.wait()
        return Done(state, value)

    with anyio.fail_after(20):
        outcomes = await run_graph(spread(run), board=Board[State](()), work=None, value=(0, 1, 2))
    assert [each.value for each in outcomes] == [None, 1, 2]
    assert isinstance(outcomes[0].error, KeyError)


async def test_no_branch_at_all_still_goes_on() -> None:
    board = Board[State](())
    assert await run_graph(spread(note), board=board, work=None, value=()) == ()
    assert board.state == ("gathered",)


async def test_branches_share_no_state_and_change_none() -> None:
    async def run(work: Any, state: State, value: str) -> Done[State]:
        assert state == ("before",)
        return Done((*state, value), state)

    board = Board[State](("before",))
    await run_graph(spread(run), board=board, work=None, value=("a", "b"))
    assert board.state == ("before", "gathered")


async def test_so_many_branches_run_at_the_same_time_and_no_more() -> None:
    running, most = 0, 0

    async def run(work: Any, state: State, value: int) -> Done[State]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return Done(state, value)

    await run_graph(spread(run), board=Board[State](()), work=None, value=range(9), parallel=3)
    assert most == 3


async def test_children_of_their_own_are_each_given_what_the_parallel_node_was_given() -> None:
    async def gather(work: Any, state: State, outcomes: tuple[Outcome, ...]) -> Done[State]:
        return Done(state, [each.value for each in outcomes])

    async def twice(work: Any, state: State, value: str) -> Done[State]:
        return Done(state, value * 2)

    graph = ResearchGraph[Any, State](
        name="both",
        entry="all",
        exits=("gather",),
        nodes=(
            ParallelNode(id="all"),
            step("plus"),
            step("twice", twice),
            step("gather", gather),
        ),
        edges=(
            Edge("all", "plus", "parallel"),
            Edge("all", "twice", "parallel"),
            Edge("plus", "gather"),
            Edge("twice", "gather"),
        ),
    )
    assert await run_graph(graph, board=Board[State](()), work=None, value="v") == ["v+", "vv"]


async def test_a_store_that_fails_in_one_branch_ends_the_others() -> None:
    cancelled: list[int] = []
    waiting = anyio.Event()

    async def run(work: Any, state: State, value: int) -> Done[State]:
        if value == 0:
            await waiting.wait()
            raise StorageError("the disk is full")
        try:
            waiting.set()
            await anyio.sleep_forever()
        finally:
            cancelled.append(value)
        raise AssertionError

    with anyio.fail_after(20), pytest.raises(StorageError, match="the disk is full"):
        await run_graph(spread(run), board=Board[State](()), work=None, value=(0, 1))
    assert cancelled == [1]


async def test_what_waits_for_the_host_is_raised_together_after_the_others_have_ended() -> None:
    ended: list[int] = []

    async def run(work: Any, state: State, value: int) -> Done[State]:
        if value % 2:
            raise Suspended({f"q{value}": HostQuestion(instructions="", prompt="", max_tokens=1)})
        ended.append(value)
        return Done(state, value)

    with pytest.raises(Suspended) as suspended:
        await run_graph(spread(run), board=Board[State](()), work=None, value=range(5))
    assert set(suspended.value.questions) == {"q1", "q3"}
    assert ended == [0, 2, 4]


async def test_two_runs_of_one_graph_share_nothing() -> None:
    met = [anyio.Event(), anyio.Event()]

    async def meet(work: int, state: State, value: str) -> Done[State]:
        met[work].set()
        await met[1 - work].wait()
        return Done((*state, value), value)

    graph, boards = line(step("a", meet), step("b")), [Board[State](()), Board[State](())]

    async def run(work: int) -> None:
        await run_graph(graph, board=boards[work], work=work, value=f"run {work}")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(run, 0)
            group.start_soon(run, 1)
    assert [board.state for board in boards] == [("run 0", "run 0"), ("run 1", "run 1")]


def test_a_diagram_shows_every_node_and_edge() -> None:
    def decide(work: Any, state: State, value: str) -> str:
        return "last"

    drawn = diagram(choosing(decide))
    assert "state which <<choice>>" in drawn
    for edge in ("[*] --> first", "first --> which", "which --> again", "last --> [*]"):
        assert edge in drawn
