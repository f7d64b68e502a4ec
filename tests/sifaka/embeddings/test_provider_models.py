import socket
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import isclose, sqrt
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sifaka._internal.blocking import run_blocking
from sifaka.embeddings import Embedder, open_embedder
from sifaka.errors import ConfigurationError, EmbeddingError

pytestmark = pytest.mark.anyio
NAME = "openai:text-embedding-3-small"


class Stub:
    """A provider on loopback: a vector says how long its text is."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.status = 200
        self.vectors: Sequence[Sequence[float]] | None = None
        self.url = ""

    async def embeddings(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append(asked)
        if self.status != 200:
            body = {"error": {"message": "sk-secret leaked in a body", "type": "x", "code": None}}
            # The client would wait and ask again.
            headers = {"x-should-retry": "false"}
            return JSONResponse(body, status_code=self.status, headers=headers)
        vectors = self.vectors or [[3.0, float(len(text))] for text in asked["input"]]
        data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return JSONResponse({"object": "list", "data": data, "model": "stub", "usage": usage})


@contextmanager
def served(stub: Stub) -> Generator[None]:
    app = Starlette(routes=[Route("/v1/embeddings", stub.embeddings, methods=["POST"])])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=0)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        listener.listen()
        thread.start()
        stub.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        try:
            yield
        finally:
            server.should_exit = True
            thread.join(timeout=100)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Generator[Stub]:
    stub = Stub()
    with served(stub):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        yield stub


@pytest.fixture
def embedder(stub: Stub) -> Embedder:
    return open_embedder(NAME)


async def test_a_provider_is_known_by_its_name(embedder: Embedder, stub: Stub) -> None:
    assert embedder.model_id == NAME
    assert not stub.requests
    assert await embedder.dimension() == 2
    assert stub.requests[0]["model"] == "text-embedding-3-small"


async def test_its_vectors_are_made_to_have_length_one(embedder: Embedder) -> None:
    (vector,) = await embedder.embed(["four"], role="query")
    assert isclose(vector[0], 3 / 5)
    assert isclose(vector[1], 4 / 5)


async def test_texts_are_sent_in_batches_and_come_back_in_order(
    embedder: Embedder, stub: Stub
) -> None:
    texts = ["x" * length for length in range(1, 131)]
    vectors = await embedder.embed(texts, role="document")
    assert [len(request["input"]) for request in stub.requests] == [64, 64, 2]
    for text, vector in zip(texts, vectors, strict=True):
        assert isclose(vector[1], len(text) / sqrt(9 + len(text) ** 2))


async def test_a_blank_text_is_not_sent_as_it_is(embedder: Embedder, stub: Stub) -> None:
    await embedder.embed(["", "\n"], role="document")
    assert stub.requests[0]["input"] == [".", "."]


@pytest.mark.parametrize(
    ("status", "retryable"), [(401, False), (404, False), (429, True), (500, True), (503, True)]
)
async def test_a_failure_says_its_status_and_nothing_of_the_body(
    embedder: Embedder, stub: Stub, status: int, retryable: bool
) -> None:
    stub.status = status
    with pytest.raises(EmbeddingError, match=f"HTTP {status}") as caught:
        await embedder.dimension()
    assert caught.value.retryable is retryable
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_provider_that_is_not_there_may_be_back_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/v1")
        with pytest.raises(EmbeddingError, match="could not be reached") as caught:
            await open_embedder(NAME).dimension()
    assert caught.value.retryable


async def test_vectors_of_another_dimension_are_refused(embedder: Embedder, stub: Stub) -> None:
    await embedder.dimension()
    stub.vectors = [[1.0, 2.0, 3.0]]
    with pytest.raises(EmbeddingError, match="3 numbers, the others have 2"):
        await embedder.embed(["a"], role="document")


async def test_an_answer_without_vectors_is_an_embedding_error(
    embedder: Embedder, stub: Stub
) -> None:
    stub.vectors = [[]]
    with pytest.raises(EmbeddingError):
        await embedder.embed(["a"], role="document")


def test_each_event_loop_has_a_client_of_its_own(embedder: Embedder) -> None:
    assert run_blocking(embedder.dimension) == 2
    assert run_blocking(lambda: embedder.embed(["four"], role="query"))


def test_a_missing_key_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        open_embedder(NAME)
    assert "\n" not in str(caught.value)


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="nowhere:model"):
        open_embedder("nowhere:model")


def test_a_provider_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.providers.google", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.embeddings.google", None)
    with pytest.raises(ConfigurationError, match="package") as caught:
        open_embedder("google:gemini-embedding-001")
    assert caught.value.suggestion == "pip install 'sifaka-mcp[google]'"
