import secrets
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.address import Address
from tests.stubs.elasticsearch_server import shared_server


def make(folder: Path) -> ElasticsearchIndex:
    return ElasticsearchIndex(_empty())


def make_expiring(folder: Path, seconds: float) -> ElasticsearchIndex:
    return ElasticsearchIndex(replace(_empty(), ttl=timedelta(seconds=seconds)))


def _empty() -> Address:
    prefix = f"contract-{secrets.token_hex(4)}"
    return Address.of_url(f"elasticsearch+http://{shared_server().host}?prefix={prefix}")
