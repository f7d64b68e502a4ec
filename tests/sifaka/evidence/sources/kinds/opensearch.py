"""OpenSearch: the shapes of Elasticsearch, with a key of another scheme."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from tests.sifaka.evidence.sources.kinds import elasticsearch
from tests.sifaka.evidence.sources.kinds.source import Source


def source(folder: Path) -> AbstractAsyncContextManager[Source]:
    return elasticsearch.source(folder, "opensearch", "Bearer")
