"""A real server, named by ELASTICSEARCH_URL, such as elasticsearch+http://localhost:9200."""

import atexit
import os
import secrets
from pathlib import Path

import httpx
import pytest

from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.address import Address
from sifaka.storage.elasticsearch.documents import index_of


def make(folder: Path) -> ElasticsearchIndex:
    url = os.environ.get("ELASTICSEARCH_URL")
    if not url:
        pytest.skip("ELASTICSEARCH_URL names no server")
    mark = "&" if "?" in url else "?"
    index = ElasticsearchIndex.of_url(f"{url}{mark}prefix=contract-{secrets.token_hex(4)}")
    atexit.register(_remove, index.address)
    return index


def _remove(address: Address) -> None:
    secret = {"Authorization": address.authorization} if address.authorization else {}
    name = index_of(address.versions)
    httpx.delete(f"{address.url}/{name}?ignore_unavailable=true", headers=secret)
