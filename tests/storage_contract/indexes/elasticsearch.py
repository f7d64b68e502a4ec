import secrets
from pathlib import Path

from sifaka.storage.elasticsearch import ElasticsearchIndex
from tests.stubs.elasticsearch_server import shared_server


def make(folder: Path) -> ElasticsearchIndex:
    return ElasticsearchIndex(_empty())


def make_expiring(folder: Path, seconds: float) -> ElasticsearchIndex:
    return ElasticsearchIndex(_empty(), ttl=seconds)


def _empty() -> str:
    prefix = f"contract-{secrets.token_hex(4)}"
    return f"elasticsearch+http://{shared_server().host}?prefix={prefix}"
