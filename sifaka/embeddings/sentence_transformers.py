"""Models of Sentence Transformers, from their files alone."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from sifaka.embeddings.local import Encode
from sifaka.embeddings.protocol import Role, Vector


class _SentenceTransformer(Protocol):
    def encode_query(self, sentences: Sequence[str], *, show_progress_bar: bool) -> Any: ...
    def encode_document(self, sentences: Sequence[str], *, show_progress_bar: bool) -> Any: ...


def load(folder: Path) -> Encode:
    """The model of a folder; code that comes with it is not run."""
    # Not by way of PydanticAI, which cannot be told to leave the network alone.
    kind: Any = import_module("sentence_transformers").SentenceTransformer
    model = cast("_SentenceTransformer", kind(str(folder), local_files_only=True))

    def encode(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        ask = model.encode_query if role == "query" else model.encode_document
        return ask(list(texts), show_progress_bar=False).tolist()

    return encode
