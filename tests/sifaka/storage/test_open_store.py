from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage import open_store
from sifaka.storage.cached import CachedStorage
from sifaka.storage.files import FileStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.redis import RedisStorage
from sifaka.storage.sqlite import SQLiteStorage


@pytest.mark.parametrize("url", ["memory:", "memory://", "Memory:"])
def test_memory_is_opened_by_name(url: str, tmp_path: Path) -> None:
    assert isinstance(open_store(url, home=tmp_path), MemoryStorage)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:", "{home}/sifaka.db"),
        ("sqlite:///runs.db", "{cwd}/runs.db"),
        ("sqlite:///data/my runs, all.db", "{cwd}/data/my runs, all.db"),
        ("sqlite:////var/lib/sifaka/50%25.db", "/var/lib/sifaka/50%25.db"),
        ("SQLite:////x.db", "/x.db"),
    ],
)
def test_sqlite_is_opened_at_the_path_of_its_url(url: str, path: str, tmp_path: Path) -> None:
    store = open_store(url, home=tmp_path)

    assert isinstance(store, SQLiteStorage)
    assert str(store.path) == path.format(home=tmp_path, cwd=Path.cwd())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "runs.db",
        "sqlite",
        "sqlite://",
        "sqlite:///",
        "sqlite:runs.db",
        "sqlite://host/runs.db",
        "sqlite:///~/runs.db",
        "sqlite:///runs.db?mode=ro",
        "memory:x",
        "memory:,postgres://localhost/x",
        "memory:,,sqlite:",
        "postgres://localhost/x",
    ],
)
def test_any_other_url_is_refused_by_name(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store(url, home=tmp_path)

    text = str(caught.value)
    assert repr(url) in text
    assert "sqlite:////absolute" in text
    assert "memory:" in text
    assert "\n" not in text


def test_a_password_in_a_url_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store("mysql://ann:hunter2@db.example/x", home=tmp_path)

    assert "hunter2" not in str(caught.value)
    assert "db.example" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "kinds"),
    [
        ("memory:,sqlite:", (MemoryStorage, SQLiteStorage)),
        ("sqlite:///runs, all.db,milvus+http://localhost", (SQLiteStorage, MilvusIndex)),
        ("redis://localhost", (MemoryStorage, RedisStorage)),
        ("milvus:///runs.db", (SQLiteStorage, MilvusIndex)),
        ("memory:,milvus+http://localhost", (SQLiteStorage, MemoryStorage, MilvusIndex)),
        ("file:,milvus:///runs.db", (FileStorage, MilvusIndex)),
    ],
)
def test_several_urls_and_one_that_may_be_away_are_tiers(
    url: str, kinds: tuple[type, ...], tmp_path: Path
) -> None:
    store = open_store(url, home=tmp_path, tenant="ann")

    assert isinstance(store, CachedStorage)
    assert tuple(type(tier) for tier in store.tiers) == kinds
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("redis://:hunter2@host:99999999/0", "hunter2"),
        ("elasticsearch+http://host?api_key=hunter2&nonsense=1", "hunter2"),
        ("milvus+http://:hunter2@host:19530?nonsense=1", "hunter2"),
    ],
)
def test_no_wrong_url_gives_its_secret_away(url: str, secret: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store(url, home=tmp_path)

    assert secret not in str(caught.value)


def test_a_store_of_tools_needs_a_client_that_calls_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="MCP client"):
        open_store("redis+mcp:uvx redis-mcp-server", home=tmp_path)
