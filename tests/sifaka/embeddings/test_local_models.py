import os
import socket
import threading
from collections.abc import Callable, Sequence
from itertools import combinations
from math import hypot, isclose
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest

from sifaka._internal.blocking import run_blocking
from sifaka.embeddings import Role, Vector, open_embedder
from sifaka.embeddings.catalogue import LocalEmbedder
from sifaka.embeddings.protocol import MOST_CHARS
from sifaka.errors import ConfigurationError, EmbeddingError

pytestmark = pytest.mark.anyio
Make = Callable[..., Path]


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
    texts = ["alpha beta", "gamma", "unknown words", "", "  "]
    vectors = await embedder.embed(texts, role="query")
    assert [len(vector) for vector in vectors] == [12] * 5
    assert all(isclose(hypot(*vector), 1, rel_tol=1e-6) for vector in vectors)
    assert await embedder.dimension() == 12


async def test_more_texts_than_a_batch_come_back_in_their_order(make_model: Make) -> None:
    embedder = open_embedder(f"model2vec:{make_model()}")
    alone = {w: (await embedder.embed([w], role="document"))[0] for w in ("alpha", "gamma")}
    words = ["alpha", "gamma", "gamma"] * 50
    vectors = await embedder.embed(words, role="document")
    assert all(cosine(v, alone[w]) > 0.999 for v, w in zip(vectors, words, strict=True))


async def test_no_texts_have_no_vectors(make_model: Make) -> None:
    assert await open_embedder(f"model2vec:{make_model()}").embed([], role="query") == []


def test_the_id_tells_another_model_in_the_same_folder(make_model: Make) -> None:
    folder = make_model(seed=1)
    first = open_embedder(f"model2vec:{folder}").model_id
    assert open_embedder(f"model2vec:{folder}/").model_id == first
    make_model(seed=2)
    second = open_embedder(f"model2vec:{folder}").model_id
    assert first.startswith("model2vec:tiny@")
    assert second.startswith("model2vec:tiny@")
    assert first != second


def test_the_id_is_the_same_wherever_the_folder_lies(make_model: Make, tmp_path: Path) -> None:
    folder = make_model()
    here = open_embedder(f"model2vec:{folder}").model_id
    (tmp_path / "elsewhere").mkdir()
    moved = folder.rename(tmp_path / "elsewhere" / "tiny")
    assert open_embedder(f"model2vec:{moved}").model_id == here


@pytest.mark.parametrize("kind", ["model2vec", "sentence-transformers"])
def test_a_model_that_is_not_here_is_not_fetched(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka.embeddings.catalogue.find_spec", _find_all)
    monkeypatch.setattr(socket, "create_connection", _no_network)
    with pytest.raises(ConfigurationError, match="there is no folder") as caught:
        open_embedder(f"{kind}:minishlab/potion-base-8M")
    assert f"{kind}:/path/to/model" in str(caught.value.suggestion)


def _find_all(name: str) -> object:
    return object()


def _no_network(*_: Any, **__: Any) -> NoReturn:
    raise AssertionError("the network was asked")


@pytest.mark.parametrize("kind", ["model2vec", "sentence-transformers"])
def test_a_missing_package_is_named_with_its_extra(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka.embeddings.catalogue.find_spec", _find_none)
    with pytest.raises(ConfigurationError, match="package") as caught:
        open_embedder(f"{kind}:{tmp_path}")
    assert caught.value.suggestion == f"pip install 'sifaka-mcp[{kind}]'"


def _find_none(name: str) -> None:
    return None


@pytest.mark.parametrize("name", ["", "potion", ":x", "model2vec:"])
def test_a_name_without_its_two_parts_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="unknown embedding model"):
        open_embedder(name)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")
    with pytest.raises(ConfigurationError, match="there is no model in"):
        open_embedder(f"model2vec:{tmp_path}")


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
    from sifaka.embeddings.protocol import ModelEmbedder

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
    from sifaka.embeddings.protocol import ModelEmbedder

    said = iter(answers)

    async def ask(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        return next(said)

    embedder = ModelEmbedder("test", ask)
    for _ in answers[1:]:
        await embedder.embed(["a"], role="document")
    with pytest.raises(EmbeddingError, match=message):
        await embedder.embed(["a"], role="document")


def test_one_embedder_serves_several_event_loops(make_model: Make) -> None:
    embedder = open_embedder(f"model2vec:{make_model()}")
    assert run_blocking(embedder.dimension) == run_blocking(embedder.dimension) == 8


async def test_half_a_surrogate_pair_is_a_word_that_no_model_knows(make_model: Make) -> None:
    (vector,) = await open_embedder(f"model2vec:{make_model()}").embed(["\ud800"], role="query")
    assert isclose(hypot(*vector), 1, rel_tol=1e-6)


@pytest.mark.parametrize("path", ["~nobody-of-that-name/model", "/nowhere", "\0"])
def test_a_path_that_leads_nowhere_is_refused_by_its_name(path: str) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        open_embedder(f"model2vec:{path}")


def test_only_the_layers_that_a_model_has_are_looked_at(make_model: Make) -> None:
    folder = make_model()
    before = open_embedder(f"model2vec:{folder}").model_id
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "other.json").write_text("{}")
    assert open_embedder(f"model2vec:{folder}").model_id == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_named(make_model: Make) -> None:
    folder = make_model()
    file = next(folder.glob("*.json"))
    file.chmod(0)
    with pytest.raises(ConfigurationError, match="cannot be read: Permission denied"):
        open_embedder(f"model2vec:{folder}")
