"""Loading what models need, and clients that stay open from run to run."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from threading import Event

import anyio
import pytest

from sifaka import Chain
from sifaka.errors import ConfigurationError
from sifaka.models.provider import Connections, in_background, loaded, provider_model, start_loading
from sifaka.storage import MemoryStorage
from tests.stubs.provider import Provider, provider, says, told_of

pytestmark = pytest.mark.anyio

MODEL = "openai-chat:stub"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with provider([says("a text")] * 4) as started:
        told_of(started, monkeypatch)
        yield started


def chain(connections: Connections, model: str = MODEL) -> Chain:
    return Chain(model=model, critics=[], connections=connections, store=MemoryStorage())


def test_runs_in_one_event_loop_share_a_client(served: Provider) -> None:
    async def work() -> list[str]:
        async with Connections() as connections:
            assert connections.model(MODEL) is connections.model(MODEL)
            return [(await chain(connections).run("Write.")).status for _ in range(2)]

    assert anyio.run(work) == ["done", "done"]


def test_run_sync_is_refused_where_other_loops_have_the_connections() -> None:
    writing = chain(Connections(), "test")
    assert writing.run_sync("Write.").status == "done"
    with pytest.raises(ConfigurationError, match="one event loop"):
        writing.run_sync("Write.")
    assert len(anyio.run(lambda: writing.store.recent(limit=9)).runs) == 1

    async def work() -> None:
        async with Connections() as connections:
            with pytest.raises(ConfigurationError, match="one event loop"):
                chain(connections, "test").run_sync("Write.")

    anyio.run(work)


def test_connections_that_are_closed_can_be_used_again_in_another_loop(served: Provider) -> None:
    connections = Connections()

    async def work() -> str:
        async with connections:
            return (await chain(connections).run("Write.")).status

    assert [anyio.run(work), anyio.run(work)] == ["done", "done"]


def test_a_model_made_before_any_loop_runs_binds_nothing() -> None:
    connections = Connections()
    known = connections.model("test")
    assert chain(connections, "test").run_sync("Write.").status == "done"
    assert connections.holds(known)


def test_an_empty_key_is_told_like_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    with pytest.raises(ConfigurationError, match="'openai:gpt-5' cannot be used: Missing cred"):
        provider_model("openai:gpt-5")


IN_A_FRESH_PROCESS = """
import sys, threading
import anyio
from anyio.lowlevel import checkpoint
from sifaka import Chain

async def main():
    chain = Chain(model="test", validators=[{"type": "length", "max_words": 1}])
    assert "pydantic_ai" not in sys.modules
    turns, most = 0, 0

    async def turn():
        nonlocal turns, most
        while True:
            await checkpoint()
            turns += 1
            most = max(most, threading.active_count())

    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        async with anyio.create_task_group() as starts:
            for n in range(40):
                starts.start_soon(chain.start, "A task.")
        group.cancel_scope.cancel()
    assert "pydantic_ai" in sys.modules
    print(turns, most)

anyio.run(main)
"""


@pytest.mark.slow
async def test_runs_that_begin_together_wait_for_one_thread_and_the_event_loop_is_free() -> None:
    done = await anyio.run_process([sys.executable, "-c", IN_A_FRESH_PROCESS], check=False)
    assert done.returncode == 0, done.stderr.decode()
    turns, threads = map(int, done.stdout.split())
    assert turns > 20
    assert threads < 12


async def test_loading_is_no_error_where_nothing_is_needed_or_there() -> None:
    assert [start_loading(model) for model in ("auto", "editor", "caller", None, object())] == [
        None
    ] * 5
    await loaded("nothing-of-the-kind:model")
    first = start_loading("nothing-of-the-kind:model")
    assert first is not None
    await loaded("nothing-of-the-kind:model")
    assert first.done()


async def test_work_is_done_once_for_each_name_whoever_gives_up_waiting() -> None:
    begun, go_on = Event(), Event()
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        begun.set()
        go_on.wait(10)

    future = in_background("a name of this test", work)
    await anyio.to_thread.run_sync(begun.wait, 10)
    with anyio.move_on_after(0):
        await asyncio.wrap_future(future)
    assert not future.cancel()
    assert in_background("a name of this test", work) is future
    go_on.set()
    await anyio.to_thread.run_sync(future.result, 10)
    assert in_background("a name of this test", work) is future
    assert calls == [1]


@pytest.mark.slow
def test_the_imports_of_a_chain_load_no_provider() -> None:
    code = "import sys; from sifaka import Chain; print('pydantic_ai' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert shown.stdout.split() == [b"False"]
