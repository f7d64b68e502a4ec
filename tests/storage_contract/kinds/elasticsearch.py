import secrets
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sifaka.storage.elasticsearch import ElasticsearchStorage
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.records import read_record, run_key
from tests.stubs.elasticsearch_server import shared_server


def make(folder: Path) -> ElasticsearchStorage:
    return ElasticsearchStorage(_empty())


def make_expiring(folder: Path, seconds: float) -> ElasticsearchStorage:
    return ElasticsearchStorage(replace(_empty(), ttl=timedelta(seconds=seconds)))


async def damage(store: ElasticsearchStorage, run_id: str) -> None:
    documents = await store._shared.ready()  # pyright: ignore[reportPrivateUsage]
    held = await read_record(documents, run_key(store.tenant, run_id))
    assert held
    (entry,) = held.record.entry_ids(1, 2)
    document = await documents.get(documents.address.entries, entry)
    assert document
    spoilt = {**document.source, "payload": "no JSON"}
    assert await documents.replace(documents.address.entries, entry, document, spoilt)


def _empty() -> Address:
    prefix = f"contract-{secrets.token_hex(4)}"
    return Address.of_url(f"elasticsearch+http://{shared_server().host}?prefix={prefix}")
