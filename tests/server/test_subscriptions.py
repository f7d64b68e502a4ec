"""Clients are told when a run they have subscribed to moves, whoever moves it."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc
import pytest
from mcp import Client, MCPError
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.shared.subscriptions import ResourceUpdated, ServerEvent
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from sifaka.chain import cancel_run
from sifaka.errors import MemoryLimitError, StorageError, ThoughtNotFound
from sifaka.record.entries import Critiqued, Decided, Decision, Drafted, Entry, Started, Validated
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.notify.subscriptions import MOST
from sifaka_mcp.runs import followers
from sifaka_mcp.runs.followers import Followers
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.servers import Era, Transport, http_server, stdio_server
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio

TEXT = "You may return the order."
REVISED = "You may return the order within 30 days."
RULES = [{"type": "content", "required": ["30 days"]}]


class Updates:
    """A client's subscriptions, in the way of its era, and what it is told."""

    def __init__(self, client: Client, group: anyio.abc.TaskGroup) -> None:
        self._client = client
        self._group = group
        self.sending, self.told = anyio.create_memory_object_stream[str](100)
        self.streams = AsyncExitStack()

    async def take(self, message: object) -> None:
        # In the other era the client hands every event of a stream to this too.
        if self._client.mode == "legacy" and isinstance(message, ResourceUpdatedNotification):
            await self.sending.send(str(message.params.uri))

    async def next(self) -> str:
        with anyio.fail_after(60):
            return await self.told.receive()

    async def subscribe(self, *uris: str) -> None:
        if self._client.mode == "legacy":
            for uri in uris:
                await ask(self._client, SubscribeRequest(params=SubscribeRequestParams(uri=uri)))
            return
        listening = self._client.listen(resource_subscriptions=uris)
        stream = await self.streams.enter_async_context(listening)
        assert stream.honored.resource_subscriptions == list(uris)
        self._group.start_soon(self._read, stream)

    async def unsubscribe(self, uri: str) -> None:
        await ask(self._client, UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri)))

    async def _read(self, stream: AsyncIterator[ServerEvent]) -> None:
        async for event in stream:
            assert isinstance(event, ResourceUpdated)
            await self.sending.send(event.uri)


async def ask(client: Client, request: SubscribeRequest | UnsubscribeRequest) -> None:
    # The client's own methods for this warn that they are deprecated.
    await client.session.send_request(request, EmptyResult)


@asynccontextmanager
async def subscribing(server: Any, era: Era) -> AsyncGenerator[tuple[Client, Updates]]:
    """A client and its subscriptions."""

    async def take(message: object) -> None:
        await updates.take(message)

    async with (
        Client(server, mode=era, message_handler=take) as client,
        anyio.create_task_group() as group,
    ):
        updates = Updates(client, group)
        async with updates.sending, updates.told, updates.streams:
            yield client, updates
        group.cancel_scope.cancel()


async def begin(client: Client) -> dict[str, Any]:
    """A run that waits for a revision."""
    run = await call(client, "improve_text", text=TEXT, validators=RULES, effort="quick")
    assert run["status"] == "needs_revision"
    return run


async def finish(client: Client, begun: dict[str, Any]) -> None:
    ids = {"run_id": begun["run_id"], "parent_id": begun["brief"]["parent_id"]}
    assert (await call(client, "submit_revision", **ids, text=REVISED))["status"] == "done"


@contextmanager
def token_of(subject: str, *scopes: str) -> Generator[None]:
    """Requests within it come with a token of this subject."""
    token = AccessToken(token="t", client_id=subject, scopes=list(scopes), subject=subject)
    before = auth_context_var.set(AuthenticatedUser(token))
    try:
        yield
    finally:
        auth_context_var.reset(before)


async def test_a_run_that_goes_on_is_told_to_whoever_subscribed(tmp_path: Path, era: Era) -> None:
    async with subscribing(SifakaServer(Settings(home=tmp_path)), era) as (client, updates):
        begun = await begin(client)
        uris = {f"run://{begun['run_id']}", f"run://{begun['run_id']}/diff"}
        await updates.subscribe(*sorted(uris))
        await finish(client, begun)
        assert {await updates.next(), await updates.next()} == uris


@pytest.mark.slow
@pytest.mark.parametrize(("transport", "era"), [("stdio", "legacy"), ("http", "auto")])
async def test_a_run_of_another_process_is_told(
    transport: Transport, era: Era, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        server: Any = stdio_server(tmp_path)
        if transport == "http":
            server, _ = stack.enter_context(http_server(tmp_path))
        other = await stack.enter_async_context(Client(SifakaServer(Settings(home=tmp_path))))
        begun = await begin(other)
        _, updates = await stack.enter_async_context(subscribing(server, era))
        await updates.subscribe(f"run://{begun['run_id']}")
        await finish(other, begun)
        assert await updates.next() == f"run://{begun['run_id']}"


async def test_unknown_resources_are_subscribed_to_in_silence(tmp_path: Path, era: Era) -> None:
    async with subscribing(SifakaServer(Settings(home=tmp_path)), era) as (client, updates):
        begun = await begin(client)
        uri = f"run://{begun['run_id']}"
        await updates.subscribe(
            "run://run_0000000000000000", "run://../x", "catalogue://critics", uri
        )
        await finish(client, begun)
        assert await updates.next() == uri


async def test_a_run_of_another_tenant_is_as_silent_as_none(tmp_path: Path) -> None:
    server = SifakaServer(Settings(home=tmp_path))
    async with AsyncExitStack() as stack:
        with token_of("ada"):
            hers, her_updates = await stack.enter_async_context(subscribing(server, "auto"))
            begun = await begin(hers)
            await her_updates.subscribe(f"run://{begun['run_id']}")
        with token_of("bob"):
            his, his_updates = await stack.enter_async_context(subscribing(server, "auto"))
            own = await begin(his)
            await his_updates.subscribe(f"run://{begun['run_id']}", f"run://{own['run_id']}")
        with token_of("ada"):
            await finish(hers, begun)
            assert await her_updates.next() == f"run://{begun['run_id']}"
        with token_of("bob"):
            await finish(his, own)
            assert await his_updates.next() == f"run://{own['run_id']}"


async def test_who_has_unsubscribed_is_told_no_more(tmp_path: Path) -> None:
    server = SifakaServer(Settings(home=tmp_path))
    async with subscribing(server, "legacy") as (client, updates):
        first, second = await begin(client), await begin(client)
        uris = [f"run://{run['run_id']}" for run in (first, second)]
        await updates.subscribe(*uris)
        await updates.unsubscribe(uris[0])
        await updates.unsubscribe("run://never")
        await finish(client, first)
        await finish(client, second)
        assert await updates.next() == uris[1]


async def test_a_connection_has_so_many_subscriptions_and_no_more(tmp_path: Path, era: Era) -> None:
    async with subscribing(SifakaServer(Settings(home=tmp_path)), era) as (_, updates):
        await updates.subscribe(*(f"run://{n}" for n in range(MOST)))
        with pytest.raises(MCPError) as refused:
            await updates.subscribe(*(f"run://{n}" for n in range(MOST + 1)))
        assert refused.value.code == INVALID_PARAMS


def offers_subscriptions(client: Client) -> bool | None:
    resources = client.server_capabilities.resources
    assert resources is not None
    return resources.subscribe


@pytest.mark.slow
async def test_over_http_subscriptions_are_streams_that_end_with_the_server(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, process):
        async with subscribing(url, "legacy") as (client, updates):
            assert not offers_subscriptions(client)
            with pytest.raises(MCPError) as refused:
                await updates.subscribe("run://x")
            assert refused.value.code == METHOD_NOT_FOUND
        async with Client(url) as client, client.listen(resource_subscriptions=["run://x"]) as told:
            assert offers_subscriptions(client)
            process.terminate()
            with anyio.fail_after(60):
                assert [event async for event in told] == []  # and no `SubscriptionLost`


class Watched(PassingStore):
    """Counts its followers, and fails them as often as it is told to."""

    def __init__(self, *, failures: int = 0) -> None:
        super().__init__(MemoryStorage())
        self.begun = 0
        self.open = 0
        self.changed = anyio.Event()
        self._failures = failures

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        self.begun += 1
        if self._failures:
            self._failures -= 1
            raise StorageError("away")
        self._count(1)
        try:
            async with aclosing(super().follow(run_id, after=after)) as steps:
                async for step in steps:
                    yield step
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self.open += change
        self.changed.set()
        self.changed = anyio.Event()

    async def until_open(self, number: int) -> None:
        with anyio.fail_after(60):
            while self.open != number:
                await self.changed.wait()


async def started(store: ThoughtStore) -> Run:
    entry = Started()
    run = Run.start(entry)
    await store.append(run, [entry], expected_version=0, fence=0)
    return run


async def moved(store: ThoughtStore, run: Run, *entries: Entry) -> Run:
    before = run.version
    for entry in entries:
        run = run.apply(entry)
    await store.append(run, entries, expected_version=before)
    return run


def version(run: Run) -> Sequence[Entry]:
    """All that is said of a run's first version."""
    thought = Thought(run_id=run.run_id, text=TEXT)
    return (
        Drafted(thought=thought),
        Validated(thought_id=thought.id, results=cast("Any", {})),
        Critiqued(thought_id=thought.id, feedback=()),
        Decided(thought_id=thought.id, decision=Decision(accepted=True, note="the first")),
    )


class Ear:
    """A listener that can be waited for."""

    def __init__(self) -> None:
        self.heard = 0
        self._event = anyio.Event()

    def __call__(self) -> None:
        self.heard += 1
        self._event.set()

    async def hears(self) -> None:
        with anyio.fail_after(60):
            await self._event.wait()
        self._event = anyio.Event()


async def test_a_run_is_followed_once_for_all_and_until_the_last_has_left() -> None:
    store = Watched()
    async with anyio.create_task_group() as group:
        following = Followers(group)
        run = await started(store)
        one, two = Ear(), Ear()
        leave_one = await following.add(store, None, run.run_id, one)
        leave_two = await following.add(store, None, run.run_id, two)
        run = await moved(store, run, *version(run))
        await one.hears()
        await two.hears()
        leave_one()
        leave_one()
        await moved(
            store, run, Drafted(thought=Thought(run_id=run.run_id, text="more", iteration=1))
        )
        await two.hears()
        assert (store.begun, store.open) == (1, 1)
        leave_two()
        await store.until_open(0)
        assert one.heard < two.heard


async def test_a_run_that_is_over_is_not_followed_and_one_that_ends_not_any_more() -> None:
    store = Watched()
    async with anyio.create_task_group() as group:
        following = Followers(group)
        run, ear = await started(store), Ear()
        leave = await following.add(store, None, run.run_id, ear)
        await cancel_run(store, run.run_id)
        await ear.hears()
        await store.until_open(0)
        leave()
        await following.add(store, None, run.run_id, ear)
        assert store.begun == 1


async def test_following_outlives_a_store_that_is_away_for_a_while() -> None:
    store = Watched(failures=2)
    async with anyio.create_task_group() as group:
        following = Followers(group, pause=0.01)
        run, ear = await started(store), Ear()
        await following.add(store, None, run.run_id, ear)
        await moved(store, run, *version(run))
        await ear.hears()
        assert store.begun == 3
        group.cancel_scope.cancel()


async def test_whoever_listens_to_a_run_that_is_forgotten_is_told() -> None:
    store = Watched()
    async with anyio.create_task_group() as group:
        run, ear = await started(store), Ear()
        await Followers(group).add(store, None, run.run_id, ear)
        await store.delete(run.run_id)
        await ear.hears()


async def test_a_tenant_has_so_many_runs_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followers, "MOST", 1)
    store = Watched()
    async with anyio.create_task_group() as group:
        following = Followers(group)
        first, second = await started(store), await started(store)
        await following.add(store, "ada", first.run_id, Ear())
        with pytest.raises(MemoryLimitError):
            await following.add(store, "ada", second.run_id, Ear())
        await following.add(store, "bob", second.run_id, Ear())
        with pytest.raises(ThoughtNotFound):
            await following.add(store, "ada", "run_0000000000000000", Ear())
        group.cancel_scope.cancel()


async def test_a_burst_is_told_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    elsewhere = settings.open_store()
    async with subscribing(SifakaServer(settings), "legacy") as (_, updates):
        first, second = await started(elsewhere), await started(elsewhere)
        uris = [f"run://{run.run_id}" for run in (first, second)]
        await updates.subscribe(*uris)
        await moved(elsewhere, first, *version(first))
        assert await updates.next() == uris[0]
        await moved(elsewhere, second, *version(second))
        assert await updates.next() == uris[1]
    await elsewhere.aclose()
