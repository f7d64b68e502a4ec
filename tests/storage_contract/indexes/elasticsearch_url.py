"""A real server, named by ELASTICSEARCH_URL, such as elasticsearch+http://localhost:9200."""

import atexit
import os
import secrets
from pathlib import Path

import httpx
import pytest

from sifaka.storage.address import ELASTICSEARCH, parse_store_url
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.connection import authorization, index_of


def make(folder: Path) -> ElasticsearchIndex:
    url = os.environ.get("ELASTICSEARCH_URL")
    if not url:
        pytest.skip("ELASTICSEARCH_URL names no server")
    mark = "&" if "?" in url else "?"
    whole = f"{url}{mark}prefix=contract-{secrets.token_hex(4)}"
    atexit.register(_remove, whole)
    return ElasticsearchIndex(whole)


def _remove(url: str) -> None:
    address = parse_store_url(url, ELASTICSEARCH)
    secret = authorization(address)
    name = index_of(f"{address.prefix}-versions")
    httpx.delete(
        f"{address.base}{address.path.rstrip('/')}/{name}?ignore_unavailable=true",
        headers={"Authorization": secret} if secret else {},
    )
