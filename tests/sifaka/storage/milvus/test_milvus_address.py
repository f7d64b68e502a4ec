from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage.address import MILVUS, StoreUrl, parse_store_url
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.milvus.client import login


def parsed(url: str) -> StoreUrl:
    return parse_store_url(url, MILVUS)


def test_a_folder_may_be_relative_or_absolute() -> None:
    assert parsed("milvus:///data/runs.db").folder == Path.cwd() / "data/runs.db"
    assert parsed("milvus:////data/runs.db").folder == Path("/data/runs.db")


@pytest.mark.parametrize(
    ("url", "uri", "token", "database"),
    [
        ("milvus+http://db", "http://db:19530", "", ""),
        ("milvus+https://db:443/team", "https://db:443", "", "team"),
        ("milvus+http://ann:s%40cret@db:1", "http://db:1", "ann:s@cret", ""),
        ("milvus+http://:TOKEN@db:1/", "http://db:1", "TOKEN", ""),
        ("milvus+http://[::1]:9", "http://[::1]:9", "", ""),
    ],
)
def test_a_server_may_have_a_token_and_a_database(
    url: str, uri: str, token: str, database: str
) -> None:
    address = parsed(url)
    assert address.base == uri
    assert login(address) == {"token": token, "db_name": database}


def test_options_are_the_time_to_live_and_the_prefix() -> None:
    said = parsed("milvus+http://db?ttl=30d&prefix=team_a")
    assert (said.shown, said.prefix, said.ttl) == ("milvus+http://db:19530", "team_a", 30 * 86_400)
    said = parsed("milvus+http://db")
    assert (said.shown, said.prefix, said.ttl) == ("milvus+http://db:19530", "sifaka", None)


@pytest.mark.parametrize(
    "url",
    [
        "milvus:",
        "milvus:/runs.db",
        "milvus:///",
        "milvus:///~/runs.db",
        "milvus+http://",
        "milvus+http://ann:SECRET@db:port",
        "milvus+http://:SECRET@db/a/b",
        "milvus+ftp://db",
        "http://db",
        "milvus+http://db?ttl=soon",
        "milvus+http://db?ttl=0",
        "milvus+http://db?prefix=1st",
        "milvus+http://db?prefix=a-b",
        "milvus+http://ann:SECRET@db?color=red",
        "milvus+http://ann:SEC/RET@db?ttl=x&color=1",
        "milvus+http://db?color",
        "milvus+http://db#top",
    ],
)
def test_a_url_that_cannot_be_understood_is_refused_without_its_token(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        MilvusIndex(url)
    assert [part for part in ("SEC", "RET", "\n") if part in str(caught.value)] == []


def test_an_address_does_not_show_its_token() -> None:
    assert "SECRET" not in repr(parsed("milvus+http://ann:SECRET@db"))


def test_a_time_to_live_is_more_than_nothing() -> None:
    for ttl in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ConfigurationError, match="time to live"):
            MilvusIndex("milvus:///runs.db", ttl=ttl)
