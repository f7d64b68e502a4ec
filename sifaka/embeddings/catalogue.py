"""Embedders from their names: models of providers, by way of PydanticAI, and of this machine."""

import os.path
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from sifaka._internal.lazy import load_pydantic_ai
from sifaka.embeddings.protocol import PACKAGED, Embedder, ModelEmbedder, Role, Vector
from sifaka.errors import ConfigurationError, EmbeddingError
from sifaka.extras import install, require

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.providers import Provider


_EXTRAS = frozenset({"google", "huggingface", "ollama", "openai"})
"""The providers with embedding models whose packages ours has an extra for."""
SECONDS = 60.0
"""Seconds that a call may take, with the retries of the provider's client."""


async def embed_by_provider(name: str, texts: Sequence[str], role: Role) -> Sequence[Vector]:
    """The vectors of some texts, by a model such as `openai:text-embedding-3-small`.

    Each call has a client of its own, closed after it: clients belong to an event loop, and an
    embedder does not. The provider's client repeats what failed by a passing failure.

    Raises:
        EmbeddingError: The model failed.
    """
    try:
        with anyio.fail_after(SECONDS):
            model, provider = infer_model(name)
            async with provider:
                return (await model.embed(texts, input_type=role)).embeddings
    except TimeoutError as error:
        raise _make_error(f"{name}: no answer within {SECONDS:g} s", True) from error
    # Besides PydanticAI's errors there are the client's own, over answers it cannot read.
    except Exception as error:
        raise _translate_error(error, name) from error


def infer_model(name: str) -> "tuple[EmbeddingModel, Provider[Any]]":
    """The model and its provider, whose client has to be closed.

    Raises:
        ConfigurationError: The name is unknown, or the provider's package or key is missing.
    """
    load_pydantic_ai()
    from pydantic_ai.embeddings import infer_embedding_model
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.providers import infer_provider

    kind = name.partition(":")[0]
    try:
        provider = infer_provider(kind)
        model = infer_embedding_model(name, provider_factory=lambda _: provider)
    except ImportError as error:
        raise ConfigurationError(
            f"embedding model {name!r} needs a package that is not installed",
            install(kind) if kind in _EXTRAS else f"pip install 'pydantic-ai-slim[{kind}]'",
        ) from error
    except (UserError, ValueError) as error:
        reason = str(error).partition("\n")[0].partition(" To try ")[0]
        raise ConfigurationError(
            f"embedding model {name!r} cannot be used: {reason}",
            "set the provider's API key, or name the model as provider:name",
        ) from error
    return model, provider


def _translate_error(error: Exception, name: str) -> EmbeddingError:
    """Only what the status and the class say: bodies may quote the text or a key."""
    from pydantic_ai import exceptions

    transient = (
        exceptions.ModelRateLimitError,
        exceptions.ModelUnavailableError,
        exceptions.ModelServerError,
        exceptions.ModelConnectionError,
        exceptions.ModelRequestTimeout,
    )
    is_passing = isinstance(error, transient)
    reason = f"the request failed with {type(error).__name__}"
    if isinstance(error, exceptions.ModelHTTPError):
        is_passing = is_passing or error.status_code == 429 or error.status_code >= 500
        reason = f"the provider answered with HTTP {error.status_code}"
    elif isinstance(error, exceptions.ModelConnectionError):
        reason = "the provider could not be reached"
    return _make_error(f"{name}: {reason}", is_passing)


def _make_error(message: str, retryable: bool) -> EmbeddingError:
    return EmbeddingError(
        message,
        "try again later"
        if retryable
        else "check the provider's API key and that it offers this model",
        retryable=retryable,
    )


Encode = Callable[[Sequence[str], Role], Sequence[Vector]]
"""A loaded model: the vectors of some texts, as it makes them."""
Loading = Callable[[Path], Encode]
"""Loads the model of a folder, without a look at the network."""


@dataclass
class LocalEmbedder:
    """A model that is loaded by its first call, once, and then used by one thread at a time."""

    name: str
    folder: Path
    load: Loading
    # Of threads, not tasks: callers may be in several event loops. It is taken while texts are
    # encoded too, as models change their tokenizer's settings meanwhile.
    lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @cached_property
    def _encode(self) -> Encode:
        return self.load(self.folder)

    async def vectors(self, texts: Sequence[str], role: Role) -> Sequence[Vector]:
        """The vectors of some texts."""
        return await to_thread.run_sync(self._encode_texts, texts, role)

    def _encode_texts(self, texts: Sequence[str], role: Role) -> Sequence[Vector]:
        with self.lock:
            try:
                return self._encode(texts, role)
            # What a model's library raises over files that are not as it expects is not specified.
            except Exception as error:
                reason = str(error).partition("\n")[0][:200] or type(error).__name__
                raise EmbeddingError(
                    f"{self.name}: the model in {str(self.folder)!r} cannot be used: {reason}",
                    "download it again, or name another one",
                ) from error


def load_model2vec(folder: Path) -> Encode:
    """The static model of a folder: a vector a word, averaged; fast without a GPU."""
    model: Any = import_module("model2vec").StaticModel.from_pretrained(
        folder, force_download=False
    )

    # Queries and documents are embedded alike.
    return lambda texts, role: model.encode(list(texts), use_multiprocessing=False).tolist()


def load_sentence_transformers(folder: Path) -> Encode:
    """The model of a folder; code that comes with it is not run."""
    # Not by way of PydanticAI, which has no option to leave the network alone.
    module: Any = import_module("sentence_transformers")
    model: Any = module.SentenceTransformer(str(folder), local_files_only=True)
    ask = {"query": model.encode_query, "document": model.encode_document}
    return lambda texts, role: ask[role](list(texts), show_progress_bar=False).tolist()


def load_wordllama(folder: Path) -> Encode:
    """The static model that lies in a package: a vector a piece of a word, averaged."""
    # The package itself is not imported: it sets up logging for the process, and a client of HTTP.
    weights: Any = import_module("safetensors.numpy").load_file(
        folder / "weights" / "l2_supercat_256.safetensors"
    )["embedding.weight"]
    tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(
        str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    # One text after the other: in a batch all would take the memory of the longest.
    return lambda texts, role: [
        weights[tokenizer.encode(text, add_special_tokens=False).ids].mean(0, "float32").tolist()
        for text in texts
    ]


_MODEL_FILES = frozenset({".bin", ".json", ".model", ".onnx", ".safetensors", ".txt"})
_ENDS = 65_536
"""Bytes read at either end of a file: weights are large, and differ wherever one looks."""


def model_folder(kind: str, path: str) -> Path:
    """The folder of a model, which has to be there.

    Raises:
        ConfigurationError: It is not, or there is no model in it.
    """
    folder = Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - a Path raises for an unknown user
    if not folder.is_dir():
        raise ConfigurationError(
            f"{kind}: there is no folder {path!r}",
            f"download the model yourself and give its path, as in {kind}:/path/to/model; "
            "nothing is downloaded for you",
        )
    if not _list_files(folder):
        raise ConfigurationError(
            f"{kind}: there is no model in {path!r}", "give the folder with its config and weights"
        )
    return folder


def model_id(kind: str, folder: Path) -> str:
    """Kind, folder name and a hash of the files, such as `model2vec:potion@1f3a5c7e9b0d`.

    Another model in the same folder has another id; the same one has it on every machine.

    Raises:
        ConfigurationError: A file of it cannot be read.
    """
    digest = sha256()
    for file in _list_files(folder):
        try:
            digest.update(_describe_file(folder, file))
        except OSError as error:
            raise ConfigurationError(
                f"{kind}: {str(file)!r} cannot be read: {error.strerror}",
                "let this user read the model's files",
            ) from error
    return f"{kind}:{folder.name}@{digest.hexdigest()[:12]}"


def _describe_file(folder: Path, file: Path) -> bytes:
    size = file.stat().st_size
    name = file.relative_to(folder).as_posix()
    with file.open("rb") as content:
        ends = content.read(_ENDS)
        if size > _ENDS:
            content.seek(max(_ENDS, size - _ENDS))
            ends += content.read(_ENDS)
    return f"{name}\0{size}\0".encode(errors="surrogateescape") + ends


def _list_files(folder: Path) -> list[Path]:
    # No layout is deeper, and a folder that was named by mistake may hold a whole disk.
    return sorted(
        file
        for file in [*folder.glob("*"), *folder.glob("*/*")]
        if file.suffix in _MODEL_FILES
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
        and file.is_file()
    )


LOCAL: Mapping[str, Loading] = MappingProxyType(
    {
        "model2vec": load_model2vec,
        "sentence-transformers": load_sentence_transformers,
        PACKAGED: load_wordllama,
    }
)
"""The models of this machine, by their kinds."""


def open_embedder(name: str) -> Embedder:
    """The embedder of a name; several tasks and event loops may share it.

    A local model is checked now and loaded by the first text. A provider's name imports
    PydanticAI, which takes about a second, and asks nothing of the provider.

    Args:
        name: `wordllama`, `model2vec:/folder`, `sentence-transformers:/folder`, or `provider:name`
            such as `openai:text-embedding-3-small`.

    Raises:
        ConfigurationError: The name is none of these, its package or key is missing, or there is
            no such folder. Models are never downloaded.
    """
    kind, colon, rest = name.partition(":")
    if name != PACKAGED and not (colon and kind and rest):
        raise ConfigurationError(
            f"unknown embedding model {name!r}",
            "use wordllama, model2vec:/folder, sentence-transformers:/folder, or "
            "provider:name such as openai:text-embedding-3-small",
        )
    load = LOCAL.get(kind)
    if load is None:
        infer_model(name)  # so that a wrong name fails now
        return ModelEmbedder(name, partial(embed_by_provider, name))
    extra = "embeddings" if kind == PACKAGED else kind
    require(f"the model {name!r}", extra, kind.replace("-", "_"))
    folder = model_folder(kind, rest or str(distribution(kind).locate_file(kind)))
    identity = model_id(kind, folder)
    return ModelEmbedder(identity, LocalEmbedder(identity, folder, load).vectors)
