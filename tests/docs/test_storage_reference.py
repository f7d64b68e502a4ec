"""`docs/storage.md` against the stores: URLs, options, limits, and what they say when away."""

import re
from pathlib import Path

import pytest

from sifaka import Chain
from sifaka.errors import ConfigurationError
from sifaka.storage import SCHEMES, CachedStorage, RedisStorage, open_store
from sifaka.storage.address import ELASTICSEARCH, parse_store_url
from sifaka.storage.elasticsearch.connection import authorization
from sifaka.storage.files.store import append_lines, claim_line
from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.redis.store import LATEST, OLDEST, Keys
from sifaka.storage.sqlite.connection import RUNS
from sifaka.storage.tool_backed import milvus as milvus_tools
from sifaka.storage.tool_backed import redis as redis_tools
from sifaka_mcp.cli import run
from tests.docs.extras import EXTRAS
from tests.docs.markdown import ROOT, code, read, section, table

DOCUMENT = "docs/storage.md"
TEXT = read(DOCUMENT)
STORES = {code(row[0])[0]: row for row in table(section(DOCUMENT, "Storage"))}


def scheme_of(url: str) -> str:
    return url.partition(":")[0]


@pytest.mark.parametrize("url", STORES)
def test_a_store_needs_the_extra_that_is_told(url: str) -> None:
    kind = scheme_of(url).partition("+")[0]
    needs = {"rediss": "redis", "unix": "redis"}.get(kind, kind)
    told = code(STORES[url][2])
    if scheme_of(url).endswith("+mcp") or needs not in EXTRAS:
        assert told == []
    else:
        assert told == [needs]


def test_every_extra_is_named_in_the_readme() -> None:
    text = section("README.md", "Settings")
    assert set(re.findall(r"\[([a-z0-9-]+)\](?!\()", text)) >= EXTRAS


@pytest.mark.parametrize("url", [url for url in STORES if scheme_of(url) in SCHEMES])
def test_every_url_opens_and_has_a_queue_if_it_may_be_away(url: str, tmp_path: Path) -> None:
    scheme = SCHEMES[scheme_of(url)]
    if (scheme.remote or scheme.index) and not scheme_of(url).endswith("+mcp"):
        store = open_store(url, home=tmp_path)
        assert isinstance(store, CachedStorage)
        assert store.queue is not None
        assert store.queue.name == "queue.db"
        assert f"`{store.queue.name}` in `SIFAKA_HOME`" in section(DOCUMENT, "Several parts")
    elif not scheme_of(url).endswith("+mcp"):
        assert not isinstance(open_store(url, home=tmp_path), CachedStorage)


def test_the_parts_that_are_shown_open() -> None:
    (shown,) = re.findall(r"`(redis://\S+,milvus:\S+)`", section(DOCUMENT, "Several parts"))
    store = open_store(shown, home=Path())
    assert isinstance(store, CachedStorage)
    first, second = store.tiers
    assert isinstance(first, RedisStorage)
    assert (first.ttl, type(second).__name__) == (7 * 86_400, "MilvusIndex")


def test_every_store_has_a_line_about_what_it_promises() -> None:
    logs, indexes = _promises().split("| Index |")
    rows = [*table(logs), *table(f"| Index |{indexes}")]
    told = {scheme_of(code(row[0])[0]) for row in rows}
    same = {"rediss": "redis", "unix": "redis", "milvus+https": "milvus+http"}
    same["elasticsearch+http"] = "elasticsearch+https"
    assert told == {same.get(name, name) for name in SCHEMES}


def _promises() -> str:
    text = section(DOCUMENT, "Which one")
    return text[text.index("| Log |") :]


def test_the_options_of_urls_are_those_of_the_code() -> None:
    rows = table(TEXT[TEXT.index("| Option ") :])
    told = {
        store: {name for row in rows if store in row[1] for name in code(row[0])}
        for store in ("Redis", "Milvus", "Elasticsearch")
    }
    for store, url in (("Redis", "redis://host"), ("Milvus", "milvus+http://host")):
        make = RedisStorage if store == "Redis" else MilvusIndex
        with pytest.raises(ConfigurationError) as raised:
            make(f"{url}?nonsense=1")
        allowed = (raised.value.suggestion or "").removeprefix("allowed: ").split(", ")
        assert told[store] == set(allowed)
    values = {"ttl": "7d", "prefix": "other", "api_key": "key"}
    assert told["Elasticsearch"] == set(values)
    options = "&".join(f"{name}={value}" for name, value in values.items())
    address = parse_store_url(f"elasticsearch+https://host?{options}", ELASTICSEARCH)
    assert (address.prefix, authorization(address)) == ("other", "ApiKey key")


def test_the_limits_are_those_of_the_code() -> None:
    assert f"reading the latest {LATEST} runs" in _promises()
    assert f"reading the latest {redis_tools.LATEST} runs" in _promises()
    assert f"reading the latest {milvus_tools.LATEST} versions" in _promises()
    (latest,) = re.findall(r"latest\s+(\d+)\s+versions", MilvusIndex.search.__doc__ or "")
    assert f"latest {latest} versions" in _words(section(DOCUMENT, "Milvus"))
    redis = _words(section(DOCUMENT, "Redis"))
    assert f"Version {OLDEST[0]}.{OLDEST[1]} or newer" in redis
    assert f"another schema than {RUNS.number}" in _words(section(DOCUMENT, "What survives"))


def _words(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def test_the_lines_of_files_that_are_no_entries_are_told() -> None:
    text = section(DOCUMENT, "Several processes")
    assert f"`{claim_line(3).decode().strip()}`" in text
    assert f"`{append_lines(['{}', '{}']).decode().splitlines()[0]}`" in text


def test_the_example_for_redis_is_about_the_keys_that_there_are() -> None:
    text, acl = section(DOCUMENT, "Redis"), (ROOT / "examples/redis.acl").read_text()
    pattern = "~sifaka:run:{ann}:*"
    assert pattern in text
    assert pattern in acl
    assert Keys("sifaka", "ann").recent.startswith(pattern[1:-1])
    assert "user default off" in acl
    (user, password) = re.findall(r"redis://([\w-]+):([\w-]+)@", text)[0]
    assert f"user {user} on >{password}" in acl
    assert "+info" in acl


def test_the_flags_of_forget_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["forget", "--help"])
    shown = capsys.readouterr().out.partition("what stays")[2]
    rows = table(section(DOCUMENT, "Forgetting"))
    assert [code(row[0])[0] for row in rows] == re.findall(r"^  (--[a-z-]+)", shown, re.MULTILINE)


async def _told_while_away(home: Path) -> str:
    store = open_store("redis://127.0.0.1:1/0", home=home)
    try:
        result = await Chain(store=store).run(text="A text.")
    finally:
        await store.aclose()
    return result.degraded[0]


@pytest.mark.anyio
async def test_a_server_that_is_away_is_told_as_shown(tmp_path: Path) -> None:
    text = section(DOCUMENT, "Several parts")
    (row, *_) = table(text[text.index("| Line ") :])
    pattern = re.escape(code(row[0])[0]).replace(re.escape("..."), ".*")
    assert re.fullmatch(re.sub(r"\d+", r"\\d+", pattern), await _told_while_away(tmp_path))
