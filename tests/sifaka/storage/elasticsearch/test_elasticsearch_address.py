import base64
from datetime import timedelta

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage.elasticsearch.address import Address


def test_a_url_says_where_and_how_long() -> None:
    address = Address.of_url("elasticsearch+http://[::1]?prefix=team-a&ttl=30d")

    assert (address.url, address.prefix) == ("http://[::1]:9200", "team-a")
    assert address.ttl == timedelta(days=30)
    assert address.authorization is None
    assert Address.of_url("elasticsearch+https://h:1/es/").url == "https://h:1/es"


def test_a_user_and_a_key_become_a_header_and_are_not_shown() -> None:
    pair = base64.b64encode("ann:p@ss:wörd".encode()).decode()
    basic = Address.of_url("elasticsearch+https://ann:p%40ss:w%C3%B6rd@host")
    key = Address.of_url("elasticsearch+https://host?api_key=VnVhQ2Zn==")

    assert basic.authorization == f"Basic {pair}"
    assert key.authorization == "ApiKey VnVhQ2Zn=="
    assert "ann" not in repr(basic) + basic.url
    assert "VnVh" not in repr(key) + key.url


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
        Address.of_url(f"elasticsearch+https{rest}")

    assert said in caught.value.message
    assert "sec" not in str(caught.value)
    assert "\n" not in str(caught.value)
