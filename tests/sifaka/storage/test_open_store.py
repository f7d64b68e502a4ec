"""Stores by their URLs, which are refused and shown without their secrets."""

import base64
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.thought import Thought
from sifaka.storage import open_store
from sifaka.storage.address import ELASTICSEARCH, MILVUS, REDIS, parse_store_url
from sifaka.storage.cached import CachedStorage
from sifaka.storage.elasticsearch import ElasticsearchIndex
from sifaka.storage.elasticsearch.connection import authorization
from sifaka.storage.files import FileStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.milvus.client import login
from sifaka.storage.redis import RedisStorage
from sifaka.storage.retention import HybridMemory, Policy
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
    "url",
    [
        "mysql://ann:hunter2@host/x",
        "redis://:hunter2@host:99999999/0",
        "elasticsearch+http://host?api_key=hunter2&nonsense=1",
        "milvus+http://:hunter2@host:19530?nonsense=1",
    ],
)
def test_no_wrong_url_gives_its_secret_away(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store(url, home=tmp_path)
    assert "hunter2" not in str(caught.value)
    assert "host" in str(caught.value)


def test_a_store_of_tools_needs_a_command(tmp_path: Path) -> None:
    assert open_store("redis+mcp:uvx redis-mcp-server", home=tmp_path).place
    with pytest.raises(ConfigurationError, match="started by a command"):
        open_store("redis+mcp: ", home=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "package"),
    [("sqlite:", "apsw"), ("redis://host?ttl=7d", "redis"), ("milvus:///x.db", "pymilvus")],
)
def test_the_package_of_a_store_is_imported_when_it_is_used(url: str, package: str) -> None:
    code = (
        "import sys; from pathlib import Path; from sifaka.storage import open_store; "
        f"open_store({url!r}, home=Path('unused')); sys.exit({package!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.anyio
async def test_a_hybrid_memory_is_opened_with_its_policies(tmp_path: Path) -> None:
    url = "hybrid:memory:;sqlite:;after=7d;most=20;forget=52w"
    store = open_store(url, home=tmp_path)
    assert isinstance(store, HybridMemory)
    assert store.short_term_keeps == Policy(max_age=timedelta(days=7), max_runs=20)
    assert store.episodic_keeps == Policy(max_age=timedelta(weeks=52))
    thought = Thought(text="It ships.")
    await store.save(thought)
    await store.aclose()
    assert not (tmp_path / "sifaka.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "hybrid:", "hybrid:memory:", "hybrid:memory:;sqlite:", "hybrid:memory:;sqlite:;after=7",
        "hybrid:memory:;sqlite:;after=7d;keep=3", "hybrid:memory:;sqlite:;most=3",
        "hybrid:;sqlite:;after=7d", "hybrid:nothing:;sqlite:;after=7d",
    ],
)  # fmt: skip
def test_a_wrong_hybrid_memory_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"hybrid|opened"):
        open_store(url, home=tmp_path)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost", "redis://localhost"),
        ("redis://ann:s3cret@cache.example:6380/2", "redis://cache.example:6380/2"),
        ("REDIS://localhost/", "redis://localhost"),
        ("rediss://:s3cret%40%2F@[::1]:7000/0?ssl_cert_reqs=none", "rediss://[::1]:7000/0"),
        ("unix:///run/redis.sock?db=1&password=s3cret", "unix:///run/redis.sock"),
        ("unix://ann@/run/redis.sock?password=s3cret", "unix:///run/redis.sock"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, shown: str) -> None:
    address = parse_store_url(url, REDIS)
    assert address.shown == shown
    assert "s3cret" not in repr(address)


def test_our_options_are_taken_out_of_the_url() -> None:
    found = parse_store_url("redis://:p%40ss@host/1?ttl=7d&ssl_cert_reqs=none&prefix=ours", REDIS)
    assert found.url == "redis://:p%40ss@host/1?ssl_cert_reqs=none"
    assert (found.ttl, found.prefix) == (7 * 86_400, "ours")
    store = RedisStorage("redis://host?ttl=12h&prefix=ours", tenant="ann")
    assert (store.ttl, store.prefix, store.tenant) == (43_200, "ours", "ann")
    view = store.scoped("bob")
    assert (view.ttl, view.prefix, view.tenant) == (43_200, "ours", "bob")


def test_what_cannot_be_kept_to_is_refused() -> None:
    for wrong in (0, -1, float("nan"), float("inf"), 1e12):
        with pytest.raises(ConfigurationError):
            RedisStorage("redis://host", ttl=wrong)
    for prefix in ("", "a b", "a*", "a{b}", "x" * 65, "ü"):
        with pytest.raises(ConfigurationError):
            RedisStorage("redis://host", prefix=prefix)


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
    address = parse_store_url(url, MILVUS)
    assert not token or token not in repr(address)
    assert address.base == uri
    assert login(address) == {"token": token, "db_name": database}


def test_a_url_of_redis_says_where_and_how_long() -> None:
    said = parse_store_url("milvus+http://db?ttl=30d&prefix=team_a", MILVUS)
    assert (said.shown, said.prefix, said.ttl) == ("milvus+http://db:19530", "team_a", 30 * 86_400)
    said = parse_store_url("milvus+http://db", MILVUS)
    assert (said.shown, said.prefix, said.ttl) == ("milvus+http://db:19530", "sifaka", None)

    address = parse_store_url("elasticsearch+http://[::1]?prefix=team-a&ttl=30d", ELASTICSEARCH)
    assert (address.base, address.prefix) == ("http://[::1]:9200", "team-a")
    assert address.ttl == 30 * 86_400
    assert authorization(address) is None
    index = ElasticsearchIndex("elasticsearch+https://h:1/es/?prefix=x")
    assert index.place == "https://h:1/es x"


def test_a_user_and_a_key_become_a_header_and_are_not_shown() -> None:
    pair = base64.b64encode("ann:p@ss:wörd".encode()).decode()
    basic = parse_store_url("elasticsearch+https://ann:p%40ss:w%C3%B6rd@host", ELASTICSEARCH)
    key = parse_store_url("elasticsearch+https://host?api_key=VnVhQ2Zn==", ELASTICSEARCH)
    assert authorization(basic) == f"Basic {pair}"
    assert authorization(key) == "ApiKey VnVhQ2Zn=="
    assert "ann" not in repr(basic) + basic.shown
    assert "VnVh" not in repr(key) + key.shown


OPTIONS = ("socket_timeout=1", "decode_responses=True", "protocol=3")
"""What would change how we talk."""
TIMES = ("", "0", "0d", "-1", "1.5h", "7 d", "d", "٧d", "99999999d")


@pytest.mark.parametrize(
    ("opens", "urls"),
    [
        (RedisStorage, ("", "redis:", "redis://", "redis:///0", "redis://:s3cret@", "unix://")),
        (RedisStorage, ("redis://u:s3cret@[host", "http://u:s3cret@host", "unix://host/x")),
        (RedisStorage, [f"redis://u:s3cret@host{end}" for end in (":99999", "/name", "/1/2")]),
        (RedisStorage, [f"redis://u:s3cret@host{end}" for end in ("?db=x", "?s3cret", "#part")]),
        (RedisStorage, [f"redis://u:s3cret@host?{option}" for option in OPTIONS]),
        (RedisStorage, [f"redis://u:s3cret@host?ttl={time}" for time in TIMES]),
        (MilvusIndex, ("milvus:", "milvus:/runs.db", "milvus:///", "milvus:///~/runs.db")),
        (MilvusIndex, ("milvus+http://", "milvus+ftp://db", "http://db", "milvus+http://db#top")),
        (MilvusIndex, ("milvus+http://a:s3/cret@db?ttl=x&color=1", "milvus+http://db?prefix=1st")),
        (MilvusIndex, ("milvus+http://:s3cret@db/a/b", "milvus+http://db?prefix=a-b")),
        (ElasticsearchIndex, ("elasticsearch+http://", "elasticsearch+http://s3cret:w@h?api_key=")),
        (
            ElasticsearchIndex,
            [f"elasticsearch+http://h?prefix={p}" for p in ("Upper", "_x", "a,b")],
        ),
        (ElasticsearchIndex, ["elasticsearch+https://host?api_key=s3%0Acret"]),
    ],
)
def test_what_is_no_address_is_refused_in_a_line_without_its_secrets(
    opens: Callable[[str], object], urls: Sequence[str]
) -> None:
    for url in urls:
        with pytest.raises(ConfigurationError) as caught:
            opens(url)
        assert [part for part in ("s3", "cret", "\n") if part in str(caught.value)] == [], url


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis://host?socket_timeout=1", "option 'socket_timeout'"),
        ("redis://host/name", "redis://[user:password@]host"),
        ("milvus+http://db?prefix=1st", "'1st' is not a prefix"),
        ("elasticsearch+https://host?ttl=7x", "'7x' is not a time to live"),
        ("elasticsearch+https://s3cret:word@host?api_key=s3cret", "api_key"),
    ],
)
def test_what_is_wrong_with_an_address_is_named(url: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store(url, home=tmp_path)
    assert said in str(caught.value)
