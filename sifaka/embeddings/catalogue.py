"""Embedders from their names."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from sifaka.embeddings.local import (
    Loading,
    LocalModel,
    load_fastembed,
    load_model2vec,
    load_sentence_transformers,
    model_folder,
    model_id,
    require_package,
)
from sifaka.embeddings.protocol import Embedder, ModelEmbedder
from sifaka.embeddings.provider import embed_by_provider, infer_model
from sifaka.errors import ConfigurationError

_LOCAL: Mapping[str, Loading] = MappingProxyType(
    {
        "fastembed": load_fastembed,
        "model2vec": load_model2vec,
        "sentence-transformers": load_sentence_transformers,
    }
)


def open_embedder(name: str) -> Embedder:
    """The embedder of a name; several tasks and event loops may share it.

    A local model is looked at now and loaded by the first text. A provider's name imports
    PydanticAI, which takes about a second, and asks nothing of the provider.

    Args:
        name: `model2vec:/folder`, `fastembed:/folder`, `sentence-transformers:/folder`, or
            `provider:name` such as `openai:text-embedding-3-small`.

    Raises:
        ConfigurationError: The name is none of these, its package or key is missing, or there is
            no such folder. Models are never downloaded.
    """
    kind, colon, rest = name.partition(":")
    if not (colon and kind and rest):
        raise ConfigurationError(
            f"unknown embedding model {name!r}",
            "use model2vec:/folder, fastembed:/folder, sentence-transformers:/folder, or "
            "provider:name such as openai:text-embedding-3-small",
        )
    load = _LOCAL.get(kind)
    if load is None:
        infer_model(name)  # so that a wrong name is told now
        return ModelEmbedder(name, partial(embed_by_provider, name))
    require_package(kind)
    folder = model_folder(kind, rest)
    identity = model_id(kind, folder)
    return ModelEmbedder(identity, LocalModel(identity, folder, load).vectors)
