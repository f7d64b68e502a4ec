"""A server that refuses, or is away."""

import socket
from collections.abc import Callable

import pytest

from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.elasticsearch import ElasticsearchIndex
from tests.stubs.elasticsearch_errors import ElasticError, rejected
from tests.stubs.elasticsearch_server import ElasticsearchServer, Request

pytestmark = pytest.mark.anyio
Made = Callable[..., Run]


async def test_a_server_that_is_away_is_said_to_be_and_may_come_back() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    index = ElasticsearchIndex(f"elasticsearch+http://ann:hunter2@127.0.0.1:{port}")

    with pytest.raises(StorageError) as caught:
        await index.search("x", limit=1)
    (health,) = await index.health()
    await index.aclose()

    assert caught.value.retryable
    assert f"http://127.0.0.1:{port} cannot be reached" in caught.value.message
    assert not health.works
    assert "hunter2" not in str(caught.value) + health.part + health.found


@pytest.mark.parametrize("wrong", ["", "ann:wrong@"])
async def test_wrong_credentials_are_told_without_them(wrong: str) -> None:
    server = ElasticsearchServer("Basic YW5uOmh1bnRlcjI=")
    right = ElasticsearchIndex(f"elasticsearch+http://ann:hunter2@{server.host}")
    assert (await right.search("x", limit=1)).hits == ()
    index = ElasticsearchIndex(f"elasticsearch+http://{wrong}{server.host}")

    with pytest.raises(StorageError, match="refuses the credentials") as caught:
        await index.search("x", limit=1)
    (health,) = await index.health()
    await right.aclose()
    await index.aclose()
    server.stop()

    assert not caught.value.retryable
    assert not health.works
    assert "wrong@" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_an_api_key_is_sent() -> None:
    server = ElasticsearchServer("ApiKey VnVhQ2ZnPT0=")
    index = ElasticsearchIndex(f"elasticsearch+http://{server.host}?api_key=VnVhQ2ZnPT0=")

    assert (await index.search("x", limit=1)).hits == ()
    await index.aclose()
    server.stop()


@pytest.mark.parametrize(
    ("error", "retryable", "said"),
    [
        (rejected(), True, "429: es_rejected_execution_exception"),
        (ElasticError(503, "unavailable_shards_exception", "primary"), True, "503"),
        (
            ElasticError(429, "cluster_block_exception", "index [x] blocked by: [flood-stage]"),
            True,
            "blocked for writing",
        ),
        (ElasticError(403, "security_exception", "action unauthorized"), False, "credentials"),
        (ElasticError(406, "", "Content-Type header [] is not supported"), False, "Content-Type"),
        (ElasticError(400, "mapper_parsing_exception", "No\nhandler"), False, "No handler"),
        (
            ElasticError(404, "index_not_found_exception", "no such index [x]"),
            False,
            "lost an index",
        ),
    ],
)
async def test_each_refusal_is_an_error_of_one_line(
    server: ElasticsearchServer,
    index: ElasticsearchIndex,
    drafted: Made,
    error: ElasticError,
    retryable: bool,
    said: str,
) -> None:
    def intercept(request: Request) -> None:
        raise error

    server.intercept = intercept
    run = drafted("x")
    for call in (
        index.put(run),
        index.thoughts("run_1"),
        index.search("x", limit=1),
        index.drop("run_1"),
        index.catch_up(),
    ):
        with pytest.raises(StorageError) as caught:
            await call
        assert caught.value.retryable == retryable
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


async def test_one_version_of_a_bulk_that_is_refused_refuses_the_put(
    server: ElasticsearchServer, index: ElasticsearchIndex, drafted: Made
) -> None:
    server.indices["sifaka-versions-1"].properties.pop("drafted")

    with pytest.raises(StorageError, match="strict_dynamic_mapping_exception"):
        await index.put(drafted("x"))


async def test_an_index_that_was_lost_is_not_made_anew_by_a_write(
    server: ElasticsearchServer, index: ElasticsearchIndex, drafted: Made
) -> None:
    del server.indices[server.aliases.pop("sifaka-versions")]

    with pytest.raises(StorageError, match="has lost an index") as caught:
        await index.put(drafted("x"))

    assert "sifaka-versions" in caught.value.message
    assert not caught.value.retryable
    assert not server.indices


async def test_a_healthy_server_says_its_version(index: ElasticsearchIndex) -> None:
    (health,) = await index.health()

    assert health.works
    assert health.found == "elasticsearch 9.1.0"


async def test_a_proxy_that_answers_in_html_is_no_crash(
    server: ElasticsearchServer, index: ElasticsearchIndex
) -> None:
    def intercept(request: Request) -> None:
        raise ElasticError(502, "", "<html>Bad gateway</html>")

    server.intercept = intercept
    with pytest.raises(StorageError) as caught:
        await index.search("x", limit=1)

    assert caught.value.retryable
