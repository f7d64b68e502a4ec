"""Static models of model2vec: a vector a word, averaged; small, and fast without a GPU."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from sifaka.embeddings.local import Encode
from sifaka.embeddings.protocol import Role, Vector


class _StaticModel(Protocol):
    def encode(self, sentences: Sequence[str], *, use_multiprocessing: bool) -> Any: ...


def load(folder: Path) -> Encode:
    """The model of a folder that `StaticModel.save_pretrained` wrote, or that was downloaded."""
    kind: Any = import_module("model2vec").StaticModel
    model = cast("_StaticModel", kind.from_pretrained(folder, force_download=False))

    def encode(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        # Queries and documents are embedded alike.
        return model.encode(list(texts), use_multiprocessing=False).tolist()

    return encode
