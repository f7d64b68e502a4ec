"""A real server, named by ELASTICSEARCH_URL, such as elasticsearch+http://localhost:9200."""

import atexit
import os
import secrets
from pathlib import Path

import httpx
import pytest

from sifaka.storage.elasticsearch import ElasticsearchStorage
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.indices import index_of


def make(folder: Path) -> ElasticsearchStorage:
    url = os.environ.get("ELASTICSEARCH_URL")
    if not url:
        pytest.skip("ELASTICSEARCH_URL names no server")
    mark = "&" if "?" in url else "?"
    store = ElasticsearchStorage.of_url(f"{url}{mark}prefix=contract-{secrets.token_hex(4)}")
    atexit.register(_remove, store.address)
    return store


def _remove(address: Address) -> None:
    names = ",".join(map(index_of, (address.runs, address.entries, address.thoughts)))
    secret = {"Authorization": address.authorization} if address.authorization else {}
    httpx.delete(f"{address.url}/{names}?ignore_unavailable=true", headers=secret)
