import base64

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage.address import ELASTICSEARCH, StoreUrl, parse_store_url
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.connection import authorization


def parsed(url: str) -> StoreUrl:
    return parse_store_url(url, ELASTICSEARCH)


def test_a_url_says_where_and_how_long() -> None:
    address = parsed("elasticsearch+http://[::1]?prefix=team-a&ttl=30d")

    assert (address.base, address.prefix) == ("http://[::1]:9200", "team-a")
    assert address.ttl == 30 * 86_400
    assert authorization(address) is None
    index = ElasticsearchIndex("elasticsearch+https://h:1/es/?prefix=x")
    assert index.place == "https://h:1/es x"


def test_a_user_and_a_key_become_a_header_and_are_not_shown() -> None:
    pair = base64.b64encode("ann:p@ss:wörd".encode()).decode()
    basic = parsed("elasticsearch+https://ann:p%40ss:w%C3%B6rd@host")
    key = parsed("elasticsearch+https://host?api_key=VnVhQ2Zn==")

    assert authorization(basic) == f"Basic {pair}"
    assert authorization(key) == "ApiKey VnVhQ2Zn=="
    assert "ann" not in repr(basic) + basic.shown
    assert "VnVh" not in repr(key) + key.shown


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("://", "server"),
        ("://host:port", "port"),
        ("://host?prefx=x", "'prefx'"),
        ("://host?prefix=Upper", "'Upper'"),
        ("://host?prefix=_x", "'_x'"),
        ("://host?prefix=a,b", "'a,b'"),
        ("://host?ttl=soon", "'soon'"),
        ("://host?ttl=7x", "'7x'"),
        ("://secret:word@host?api_key=secret", "api_key"),
        ("://host?api_key=sec%0Aret", "api_key"),
        ("://host#secret", "host"),
    ],
)
def test_a_wrong_url_is_refused_without_its_secrets(rest: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ElasticsearchIndex(f"elasticsearch+https{rest}")

    assert said in caught.value.message
    assert "sec" not in str(caught.value)
    assert "\n" not in str(caught.value)
