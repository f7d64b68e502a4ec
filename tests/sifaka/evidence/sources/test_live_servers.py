"""Real servers, where a variable names one by the spec of an adapter.

ELASTICSEARCH_ADAPTER_URL, OPENSEARCH_ADAPTER_URL, SOLR_ADAPTER_URL, MEILISEARCH_ADAPTER_URL and
ATOMWALKER_ADAPTER_URL are such as `elasticsearch+http://localhost:9200/papers?text=abstract`, with
the key in the variable of the same name that ends with `_KEY`. LIVE_ADAPTER_QUERY is what to look
for; some document has to match it.
"""

import os

import pytest

from sifaka.evidence.documents import ANYTHING
from sifaka.evidence.sources.catalogue import open_adapters

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "kind", ["elasticsearch", "opensearch", "solr", "meilisearch", "atomwalker"]
)
async def test_a_real_server_is_searched(kind: str) -> None:
    spec = os.environ.get(f"{kind.upper()}_ADAPTER_URL")
    if not spec:
        pytest.skip(f"{kind.upper()}_ADAPTER_URL names no server")
    key = os.environ.get(f"{kind.upper()}_ADAPTER_KEY")
    async with open_adapters([f"live={spec}"], keys={"live": key} if key else {}) as adapters:
        (adapter,) = adapters.chosen()
        health = await adapter.health()
        assert health.works, health.found
        query = os.environ.get("LIVE_ADAPTER_QUERY", "the")
        found = await adapter.search(query, limit=3, filters=ANYTHING)
    assert 0 < len(found) <= 3
    assert all(document.text and document.adapter == "live" for document in found)
