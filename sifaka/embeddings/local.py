"""Models in a folder of this machine, at work in a thread."""

import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from anyio import to_thread

from sifaka.embeddings.protocol import Role, Vector
from sifaka.errors import ConfigurationError, EmbeddingError, SifakaError

Encode = Callable[[Sequence[str], Role], Sequence[Vector]]
"""A loaded model: the vectors of some texts, as it makes them."""
Loading = Callable[[Path], Encode]
"""Loads the model of a folder, without a look at the network."""


def require_package(kind: str) -> None:
    """See that the package of a kind of model is there, without importing it.

    Raises:
        ConfigurationError: It is not installed.
    """
    if find_spec(kind.replace("-", "_")) is None:
        raise ConfigurationError(
            f"{kind} models need a package that is not installed",
            f"pip install 'sifaka-mcp[{kind}]'",
        )


class LocalModel:
    """A model that is loaded by its first call, once, and then asked by one thread at a time."""

    def __init__(self, name: str, folder: Path, load: Loading) -> None:
        self._name = name
        self._folder = folder
        self._load = load
        self._encode: Encode | None = None
        # Of threads, not tasks: callers may be in several event loops. It is held while texts are
        # encoded too, as models change their tokenizer's settings meanwhile.
        self._lock = threading.Lock()

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Vector]:
        """The vectors of some texts."""
        return await to_thread.run_sync(self._vectors, texts, role)

    def _vectors(self, texts: Sequence[str], role: Role) -> Sequence[Vector]:
        with self._lock:
            try:
                encode = self._encode or self._load(self._folder)
                self._encode = encode
                return encode(texts, role)
            except SifakaError:
                raise
            # What a model's library raises over files that are not as it expects is not specified.
            except Exception as error:
                reason = str(error).partition("\n")[0][:200] or type(error).__name__
                raise EmbeddingError(
                    f"{self._name}: the model in {str(self._folder)!r} cannot be used: {reason}",
                    "download it again, or name another one",
                ) from error


def load_model2vec(folder: Path) -> Encode:
    """The static model of a folder: a vector a word, averaged; fast without a GPU."""
    model: Any = import_module("model2vec").StaticModel.from_pretrained(
        folder, force_download=False
    )

    def encode(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        # Queries and documents are embedded alike.
        return model.encode(list(texts), use_multiprocessing=False).tolist()

    return encode


def load_sentence_transformers(folder: Path) -> Encode:
    """The model of a folder; code that comes with it is not run."""
    # Not by way of PydanticAI, which cannot be told to leave the network alone.
    module: Any = import_module("sentence_transformers")
    model: Any = module.SentenceTransformer(str(folder), local_files_only=True)

    def encode(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        ask = model.encode_query if role == "query" else model.encode_document
        return ask(list(texts), show_progress_bar=False).tolist()

    return encode
