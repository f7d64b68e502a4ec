"""What compose.yaml puts together, as processes: a proxy, two servers, one Redis."""

import http.client
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.stubs.nginx import Proxy, nginx, nginx_executable
from tests.stubs.provider import Gate, Reply, provider, says
from tests.stubs.redis_server import redis_server
from tests.stubs.servers import Era, http_server

pytestmark = [pytest.mark.anyio, pytest.mark.servers]
RULE = {"type": "content", "required": ["30 days"]}
PASSWORD = "p" * 32
WITHIN = 60
"""Seconds after which something hangs."""


@dataclass(frozen=True)
class Topology:
    proxy: Proxy
    replicas: "dict[int, Popen[str]]"
    """The servers by their ports."""

    @property
    def url(self) -> str:
        return f"{self.proxy.url}/mcp"


@contextmanager
def replicated(folder: Path, **settings: str) -> Generator[Topology]:
    nginx_executable()  # skips before anything is started
    with ExitStack() as stack:
        redis = stack.enter_context(redis_server(password=PASSWORD))
        shared = {
            "SIFAKA_STORE": f"redis://:{PASSWORD}@127.0.0.1:{redis.port}/0",
            "SIFAKA_STATE_KEYS": "k" * 32,
        }
        replicas: dict[int, Popen[str]] = {}
        for name in ("one", "two"):
            home = folder / name
            home.mkdir()
            url, process = stack.enter_context(http_server(home, **shared, **settings))
            port = urlsplit(url).port
            assert port
            replicas[port] = process
        proxy = stack.enter_context(nginx(folder / "nginx", list(replicas)))
        yield Topology(proxy, replicas)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def begin(client: Client) -> dict[str, Any]:
    return await call(client, "improve_text", text="You may return it.", validators=[RULE])


@pytest.fixture(scope="module")
def topology(tmp_path_factory: pytest.TempPathFactory) -> Generator[Topology]:
    """One that nobody harms."""
    folder = tmp_path_factory.mktemp("replicas")
    with replicated(folder, SIFAKA_ALLOWED_HOSTS="sifaka.example") as running:
        yield running


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


async def test_a_run_begun_at_one_replica_is_finished_at_the_other(
    tmp_path: Path, era: Era
) -> None:
    with replicated(tmp_path) as topology, anyio.fail_after(WITHIN):
        (first, one), (second, _) = topology.replicas.items()
        async with Client(f"http://127.0.0.1:{first}/mcp", mode=era) as client:
            begun = await begin(client)
        assert begun["status"] == "needs_revision"

        one.kill()
        one.wait(timeout=100)
        async with Client(topology.url, mode=era) as client:
            told = await call(client, "get_thought_history", run_id=begun["run_id"])
            ended = await call(
                client,
                "submit_revision",
                run_id=begun["run_id"],
                parent_id=begun["brief"]["parent_id"],
                text="You may return it within 30 days.",
            )
        assert told["run"]["status"] == "needs_revision"
        assert (ended["status"], ended["accepted"], ended["degraded"]) == ("done", True, [])
        assert second in topology.proxy.asked


async def test_a_client_of_a_killed_replica_sends_its_request_again(
    tmp_path: Path, era: Era
) -> None:
    gate, is_answered = Gate(), anyio.Event()
    arguments = {"text": "You may return it.", "validators": [RULE], "model": "openai-chat:stub"}
    asked: list[int] = []
    broken: list[BaseException] = []

    async def note(response: httpx2.Response) -> None:
        if b"tools/call" in response.request.content:
            asked.append(int(response.headers["x-replica"].rpartition(":")[2]))
            is_answered.set()

    async def improve(url: str) -> dict[str, Any]:
        async with (
            httpx2.AsyncClient(
                headers={"Idempotency-Key": "8e03978e"},
                timeout=WITHIN,
                event_hooks={"response": [note]},
            ) as http,
            Client(streamable_http_client(url, http_client=http), mode=era) as client,
        ):
            return await call(client, "improve_text", critics=["lint"], **arguments)

    async def breaking(url: str) -> None:
        try:
            await improve(url)
        # Broad on purpose: that the connection breaks is asserted, not how a client says it.
        except Exception as error:  # noqa: BLE001
            broken.append(error)

    try:
        with provider(lambda _: says("You may return it within 30 days.", gate=gate)) as model:
            settings = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": model.url}
            with replicated(tmp_path, **settings) as topology, anyio.fail_after(2 * WITHIN):
                async with anyio.create_task_group() as group:
                    group.start_soon(breaking, topology.url)
                    await is_answered.wait()
                    await gate.reached()
                    process = topology.replicas[asked[0]]
                    process.kill()
                    process.wait(timeout=20)
                assert broken, "the client was not connected with the replica that was killed"
                gate.open()
                ended = await improve(topology.url)
                async with Client(topology.url, mode=era) as client:
                    listed = await call(client, "get_thought_history", limit=50)
    finally:
        gate.open()
    assert (ended["status"], ended["text"]) == ("done", "You may return it within 30 days.")
    assert [run["run_id"] for run in listed["runs"]] == [ended["run_id"]]
    assert asked[-1] != asked[0]


async def test_a_client_is_answered_by_every_replica_in_turn(topology: Topology, era: Era) -> None:
    with anyio.fail_after(WITHIN):
        async with Client(topology.url, mode=era) as client:
            runs = {(await begin(client))["run_id"] for _ in range(4)}
            listed = await call(client, "get_thought_history", limit=50)
    assert runs <= {run["run_id"] for run in listed["runs"]}
    assert topology.proxy.asked == set(topology.replicas)


async def test_progress_comes_through_the_proxy_at_once(tmp_path: Path, era: Era) -> None:
    told = threading.Event()

    def once_the_client_was_told() -> Iterator[Reply]:
        told.wait(WITHIN)
        while True:
            yield says("You may return it within 30 days.")

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.set()

    with provider(once_the_client_was_told()) as model:
        settings = {
            "SIFAKA_MODEL": "openai-chat:stub",
            "OPENAI_API_KEY": "sk-test-key",
            "OPENAI_BASE_URL": model.url,
        }
        try:
            with replicated(tmp_path, **settings) as topology, anyio.fail_after(WITHIN / 2):
                async with Client(topology.url, mode=era) as client:
                    result = await client.call_tool(
                        "improve_text",
                        {"text": "You may return it.", "validators": [RULE], "critics": []},
                        progress_callback=listen,
                    )
        finally:
            told.set()
    assert result.structured_content is not None
    assert result.structured_content["status"] == "done"
    assert model.requests


def test_the_proxy_passes_the_host_on_which_the_servers_check(topology: Topology) -> None:
    assert status(topology, "sifaka.example") != status(topology, "evil.example") == 421


def test_the_proxy_tells_whether_servers_live_and_no_figures(topology: Topology) -> None:
    assert status(topology, "127.0.0.1", path="/healthz", method="GET") == 200
    assert status(topology, "127.0.0.1", path="/metrics", method="GET") == 404


def status(topology: Topology, host: str, *, path: str = "/mcp", method: str = "POST") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", topology.proxy.port, timeout=WITHIN)
    try:
        connection.request(method, path, headers={"Host": host, "Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()


async def test_a_body_that_is_too_large_is_refused_by_the_proxy(topology: Topology) -> None:
    with anyio.fail_after(WITHIN):
        async with await anyio.connect_tcp("127.0.0.1", topology.proxy.port) as connection:
            await connection.send(
                b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000000\r\n\r\n{"
            )
            assert (await connection.receive()).split()[1] == b"413"
