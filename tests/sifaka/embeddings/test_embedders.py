"""Models that embed: in a folder, and of a provider."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import combinations
from math import hypot, isclose, sqrt
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sifaka._internal.blocking import run_blocking
from sifaka.embeddings import Embedder, Role, Vector, open_embedder
from sifaka.embeddings.catalogue import LocalEmbedder
from sifaka.embeddings.protocol import MOST_CHARS, ModelEmbedder
from sifaka.errors import ConfigurationError, EmbeddingError
from sifaka.extras import install
from tests.docs.markdown import ROOT
from tests.stubs.static_models import needs_the_packaged_model, write_static_model

pytestmark = pytest.mark.anyio

Make = Callable[..., Path]


@pytest.fixture
def make_model(tmp_path: Path) -> Make:
    """Writes a small model into a folder of the test's own."""

    def make(name: str = "tiny", *, dimension: int = 8, seed: int = 1) -> Path:
        return write_static_model(tmp_path / name, dimension=dimension, seed=seed)

    return make


def cosine(first: Vector, second: Vector) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


async def test_texts_that_mean_nearly_the_same_are_closest(make_model: Make) -> None:
    embedder = open_embedder(f"model2vec:{make_model()}")
    vectors = await embedder.embed(["alpha", "beta", "gamma", "delta"], role="document")
    pairs = list(combinations(range(4), 2))
    closest = max(pairs, key=lambda pair: cosine(vectors[pair[0]], vectors[pair[1]]))
    assert closest == (0, 1)
    assert cosine(vectors[0], vectors[1]) > 0.9


async def test_every_vector_has_length_one_and_the_same_dimension(make_model: Make) -> None:
    embedder = open_embedder(f"model2vec:{make_model(dimension=12)}")
    texts = ["alpha beta", "gamma", "unknown words", "", "  ", "\ud800"]
    vectors = await embedder.embed(texts, role="query")
    assert [len(vector) for vector in vectors] == [12] * 6
    assert all(isclose(hypot(*vector), 1, rel_tol=1e-6) for vector in vectors)
    assert await embedder.dimension() == 12
    assert await embedder.embed([], role="query") == []


def test_the_id_tells_the_model_and_not_where_its_folder_lies(
    make_model: Make, tmp_path: Path
) -> None:
    folder = make_model(seed=1)
    first = open_embedder(f"model2vec:{folder}").model_id
    assert first.startswith("model2vec:tiny@")
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "other.json").write_text("{}")
    assert open_embedder(f"model2vec:{folder}/").model_id == first, "no layer of a model"
    (tmp_path / "elsewhere").mkdir()
    moved = folder.rename(tmp_path / "elsewhere" / "tiny")
    assert open_embedder(f"model2vec:{moved}").model_id == first
    second = open_embedder(f"model2vec:{make_model(seed=2)}").model_id
    assert second.startswith("model2vec:tiny@")
    assert second != first


@pytest.mark.parametrize("kind", ["model2vec", "sentence-transformers"])
def test_a_model_that_is_not_here_is_not_fetched(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka.extras.find_spec", _find_all)
    monkeypatch.setattr(socket, "create_connection", _no_network)
    with pytest.raises(ConfigurationError, match="there is no folder") as caught:
        open_embedder(f"{kind}:minishlab/potion-base-8M")
    assert f"{kind}:/path/to/model" in str(caught.value.suggestion)


def _find_all(name: str) -> object:
    return object()


def _no_network(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("the network was asked")


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("wordllama", "embeddings"),
        ("model2vec:/folder", "model2vec"),
        ("sentence-transformers:/folder", "sentence-transformers"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka.extras.find_spec", _find_none)
    with pytest.raises(ConfigurationError, match=f"needs the extra `{extra}`") as caught:
        open_embedder(name)
    assert caught.value.suggestion == install(extra)


def _find_none(name: str) -> None:
    return None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *(
            (name, "unknown embedding model")
            for name in ("", "potion", ":x", "model2vec:", "wordllama:")
        ),
        ("nowhere:model", "nowhere:model"),
        ("model2vec:/nowhere", "there is no folder"),
        (f"model2vec:{Path(__file__).parent}", "there is no model in"),
    ],
)
def test_what_names_no_model_is_refused(name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        open_embedder(name)


@needs_the_packaged_model
@pytest.mark.slow
def test_the_packaged_model_works_without_a_network_a_home_or_its_package_imported(
    tmp_path: Path,
) -> None:
    code = """
import socket, sys
def refuse(*_): raise AssertionError("the network was asked")
socket.create_connection = socket.getaddrinfo = socket.socket.connect = refuse
import anyio
from sifaka.embeddings import open_embedder
model = open_embedder("wordllama")
assert "numpy" not in sys.modules, "it is loaded by the first text"
texts = ["The lift is out of order.", "Bread is baked at 230 degrees.", "エレベーター" * 1000]
lift, bread, _ = anyio.run(lambda: model.embed(texts, role="document"))
(asked,) = anyio.run(lambda: model.embed(["a broken elevator"], role="query"))
near, far = (sum(a * b for a, b in zip(asked, other)) for other in (lift, bread))
assert near > 2 * abs(far), (near, far)
assert not {"wordllama", "requests", "httpx"} & set(sys.modules)
print(model.model_id, len(asked))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert re.fullmatch(r"wordllama:wordllama@[0-9a-f]{12} 256\n", done.stdout), done.stderr


async def test_a_damaged_model_is_an_embedding_error(make_model: Make) -> None:
    folder = make_model()
    (folder / "model.safetensors").write_bytes(b"damaged")
    embedder = open_embedder(f"model2vec:{folder}")
    with pytest.raises(EmbeddingError, match="cannot be used") as caught:
        await embedder.dimension()
    assert "\n" not in str(caught.value)


async def test_a_model_is_loaded_once_for_all_who_ask_at_the_same_time(tmp_path: Path) -> None:
    loads: list[Path] = []

    def load(folder: Path) -> Callable[[Sequence[str], Role], Sequence[Vector]]:
        loads.append(folder)
        return lambda texts, role: [(1.0,)] * len(texts)

    model = LocalEmbedder("test", tmp_path, load)
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(model.vectors, ["a"], "query")
    assert loads == [tmp_path]


async def test_texts_are_encoded_by_one_thread_at_a_time(tmp_path: Path) -> None:
    at_work = threading.Semaphore(1)
    together: list[bool] = []

    def encode(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        together.append(not at_work.acquire(blocking=False))
        threading.Event().wait(0.002)  # room for another thread to come in between
        at_work.release()
        return [(1.0,)]

    model = LocalEmbedder("test", tmp_path, lambda folder: encode)
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(model.vectors, ["a"], "query")
    assert together == [False] * 10


async def test_a_text_is_cut_before_it_is_embedded(tmp_path: Path) -> None:
    lengths: list[int] = []

    async def ask(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        lengths.extend(map(len, texts))
        return [(1.0, 0.0)] * len(texts)

    await ModelEmbedder("test", ask).embed(["x" * 1_000_000], role="document")
    assert lengths == [MOST_CHARS]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([[(1.0, 0.0)], [(1.0, 0.0, 0.0)]], "a vector of 3 numbers"),
        ([[(1.0, 0.0), (1.0, 0.0)]], "2 vectors for 1 texts"),
        ([[(float("nan"), 0.0)]], "not finite"),
        ([[()]], "a vector of 0 numbers"),
    ],
)
async def test_vectors_that_cannot_be_relied_on_are_refused(
    answers: list[list[Vector]], message: str
) -> None:
    said = iter(answers)

    async def ask(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        return next(said)

    embedder = ModelEmbedder("test", ask)
    for _ in answers[1:]:
        await embedder.embed(["a"], role="document")
    with pytest.raises(EmbeddingError, match=message):
        await embedder.embed(["a"], role="document")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_named(make_model: Make) -> None:
    folder = make_model()
    file = next(folder.glob("*.json"))
    file.chmod(0)
    with pytest.raises(ConfigurationError, match="cannot be read: Permission denied"):
        open_embedder(f"model2vec:{folder}")


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


async def test_a_provider_is_asked_in_batches_for_vectors_of_length_one(
    embedder: Embedder, stub: Stub
) -> None:
    assert embedder.model_id == NAME
    assert not stub.requests
    assert await embedder.dimension() == 2
    assert stub.requests.pop()["model"] == "text-embedding-3-small"
    (vector,) = await embedder.embed(["four"], role="query")
    assert (isclose(vector[0], 3 / 5), isclose(vector[1], 4 / 5)) == (True, True)

    await embedder.embed(["", "\n"], role="document")
    assert stub.requests.pop()["input"] == [".", "."], "a blank text is not sent as it is"

    stub.requests.clear()
    texts = ["x" * length for length in range(1, 131)]
    vectors = await embedder.embed(texts, role="document")
    assert [len(request["input"]) for request in stub.requests] == [64, 64, 2]
    for text, vector in zip(texts, vectors, strict=True):
        assert isclose(vector[1], len(text) / sqrt(9 + len(text) ** 2)), "in their order"


async def test_a_failure_says_its_status_and_nothing_of_the_body(
    embedder: Embedder, stub: Stub
) -> None:
    for status, retryable in ((401, False), (404, False), (429, True), (500, True), (503, True)):
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


def test_each_event_loop_has_a_client_of_its_own(embedder: Embedder) -> None:
    assert run_blocking(embedder.dimension) == 2
    assert run_blocking(lambda: embedder.embed(["four"], role="query"))


def test_a_missing_key_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        open_embedder(NAME)
    assert "\n" not in str(caught.value)


def test_a_provider_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.providers.google", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.embeddings.google", None)
    with pytest.raises(ConfigurationError, match="package") as caught:
        open_embedder("google:gemini-embedding-001")
    assert caught.value.suggestion == install("google")
