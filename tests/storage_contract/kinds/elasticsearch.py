import secrets
from pathlib import Path

from sifaka.storage.elasticsearch import ElasticsearchStorage
from tests.stubs.elasticsearch_server import shared_server


def make(folder: Path) -> ElasticsearchStorage:
    url = f"elasticsearch+http://{shared_server().host}?prefix=contract-{secrets.token_hex(4)}"
    return ElasticsearchStorage.of_url(url)
