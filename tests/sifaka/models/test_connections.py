"""Clients that stay open from run to run, and the event loop they belong to."""

from collections.abc import Iterator

import anyio
import pytest

from sifaka import Chain
from sifaka.errors import ConfigurationError
from sifaka.models.provider import Connections, provider_model
from sifaka.storage import MemoryStorage
from tests.stubs.provider import Provider, provider, says, told_of

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


def test_a_second_event_loop_is_refused_before_anything_is_started() -> None:
    writing = chain(Connections(), "test")
    assert writing.run_sync("Write.").status == "done"
    with pytest.raises(ConfigurationError, match="one event loop"):
        writing.run_sync("Write.")
    assert len(anyio.run(lambda: writing.store.recent(limit=9)).runs) == 1


def test_run_sync_inside_the_loop_that_has_the_connections_is_refused() -> None:
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
