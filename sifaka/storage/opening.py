"""Opening a store by its URL."""

import logging
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import cast

from sifaka._internal.durations import parse_duration
from sifaka.calls.failure_log import report_failure
from sifaka.embeddings.protocol import Embedder
from sifaka.errors import ConfigurationError, PluginError, SifakaError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import SearchIndex, ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage

logger = logging.getLogger(__name__)

_FILE = "sifaka.db"
"""The file in the home folder for runs, unless another log is named."""
_PLUGGED_SCHEME = re.compile(r"[a-z]+(?:\+[a-z]+)?")
_METHODS = (
    "place", "degraded", "append", "claim", "load", "follow", "recent", "search", "delete",
    "catch_up", "health", "scoped", "aclose",
)  # fmt: skip
"""The parts of a store; see `ThoughtStore`."""
_NEXT_TIER = re.compile(r",\s*(?=[a-z]+(?:\+[a-z]+)?:)")


Opened = ThoughtStore | SearchIndex


@dataclass(frozen=True, slots=True)
class Scheme:
    """A kind of URL."""

    form: str
    remote: bool = False
    """True for another machine, which may be away for a while."""
    index: bool = False
    """True for a search index, which needs a log beside it."""


SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        "memory": Scheme("memory:"),
        "sqlite": Scheme("sqlite: | sqlite:///relative/path.db | sqlite:////absolute/path.db"),
        "file": Scheme("file: | file:///relative/folder | file:////absolute/folder"),
        "redis": Scheme("redis://host:6379/0", remote=True),
        "rediss": Scheme("rediss://host:6379/0", remote=True),
        "unix": Scheme("unix:///path/to/redis.sock", remote=True),
        "milvus": Scheme("milvus:///relative/path.db | milvus:////absolute/path.db", index=True),
        "milvus+http": Scheme("milvus+http://host:19530", remote=True, index=True),
        "milvus+https": Scheme("milvus+https://host:19530", remote=True, index=True),
        "elasticsearch+http": Scheme("elasticsearch+http://host:9200", remote=True, index=True),
        "elasticsearch+https": Scheme("elasticsearch+https://host:9200", remote=True, index=True),
        "redis+mcp": Scheme("redis+mcp:COMMAND", remote=True),
        "milvus+mcp": Scheme("milvus+mcp:COMMAND", remote=True, index=True),
    }
)
"""Every kind of URL that `open_store` understands."""
HYBRID = "hybrid:SHORT_TERM;EPISODIC;after=7d[;most=1000][;forget=365d]"
"""The form of a URL of two stores: runs leave the first one for the second, and that."""
_MEMORIES = re.compile(
    r"hybrid:(?P<short_term>[^;]+);(?P<episodic>[^;]+);after=(?P<after>\d{1,9}[wdhms])"
    r"(?:;most=(?P<most>\d{1,9}))?(?:;forget=(?P<forget>\d{1,9}[wdhms]))?"
)
FORMS = " | ".join([*(scheme.form for scheme in SCHEMES.values()), HYBRID])
"""Every URL form that `open_store` understands; several with commas between them are one store."""


def tiers_of(url: str) -> tuple[str, ...]:
    """The URLs of the parts of a store; of a hybrid memory those of its short-term memory."""
    return tuple(_NEXT_TIER.split(url.removeprefix("hybrid:").partition(";")[0]))


def open_store(
    url: str,
    *,
    home: Path | None = None,
    tenant: str = "default",
    embedder: Embedder | None = None,
    environment: Mapping[str, str] | None = None,
    plugins: Plugins = NO_PLUGINS,
) -> ThoughtStore:
    """The store that a URL names; files and servers are touched on first use only.

    Several URLs with commas between them are a log with its indexes; see `CachedStorage`.
    A search index alone keeps its log in `sifaka.db` in the home folder. Changes for a part that is
    away wait in a file in the home folder.

    The caller closes it with `aclose`; views that `scoped` makes are closed with it.

    Args:
        url: One of `FORMS`, or several. A path is used as written, without decoding; a relative
            one starts at the current directory.
        home: The folder of the default files, for `sqlite:`, `file:`, logs and the outbox; the
            current one by default.
        tenant: The tenant whose runs it shows.
        embedder: Makes vectors, in the stores that can keep some.
        environment: The variables of the MCP servers that are started, besides `PATH`, `HOME` and
            the like. By default those of this process that tell where a database is: they begin
            with `REDIS_` or `MILVUS_`.
        plugins: The stores whose schemes are not built in. Each is made by
            `make(url, home=..., tenant=...)`.

    Raises:
        ConfigurationError: The URL has none of the forms, or a part of it is wrong.
        PluginError: A store of another package is not allowed, or cannot be used.
    """
    home = home or Path()
    if url.startswith("hybrid:"):
        open_part = partial(
            open_store,
            tenant=tenant,
            embedder=embedder,
            environment=environment,
            plugins=plugins,
        )
        return _open_hybrid(url, home, open_part)
    schemes: list[Scheme] = []
    parts: list[Opened] = []
    for part in _NEXT_TIER.split(url):
        name, colon, rest = part.partition(":")
        name = name.lower()
        store = None
        if colon and name in SCHEMES:
            store = _open_part(f"{name}:{rest}", home, tenant, embedder, environment)
        elif colon and _PLUGGED_SCHEME.fullmatch(name):
            store = _plug_in(name, f"{name}:{rest}", home, tenant, plugins)
        if store is None:
            offered = [f"{each}:..." for each in plugins.offered("stores", SCHEMES)]
            raise ConfigurationError(
                f"no store can be opened by {_mask_url(url)!r}",
                f"allowed: {' | '.join([FORMS, *offered])}",
            )
        schemes.append(SCHEMES.get(name, Scheme(f"{name}:...")))
        parts.append(store)
    if len(parts) == 1 and not schemes[0].remote and not schemes[0].index:
        return cast("ThoughtStore", parts[0])
    from sifaka.storage.cached import CachedStorage

    lasting = [scheme for scheme in schemes if not scheme.index and scheme is not SCHEMES["memory"]]
    if not lasting and any(scheme.index for scheme in schemes):
        parts.insert(0, SQLiteStorage(home / _FILE, tenant=tenant, embedder=embedder))
    if len(parts) == 1:
        parts.insert(0, MemoryStorage(tenant=tenant))  # its cache answers while the other is away
    return CachedStorage(*parts, queue=home / "queue.db", tenant=tenant)


def _open_hybrid(url: str, home: Path, open_part: Callable[..., ThoughtStore]) -> ThoughtStore:
    from sifaka.storage.retention import HybridMemory, Policy

    matched = _MEMORIES.fullmatch(url)
    if matched is None:
        raise ConfigurationError(f"{_mask_url(url)!r} is no hybrid memory", f"allowed: {HYBRID}")
    most = int(matched["most"]) if matched["most"] else None
    return HybridMemory(
        short_term=open_part(matched["short_term"], home=home),
        # In a folder of its own, as both may keep a queue and files.
        episodic=open_part(matched["episodic"], home=home / "episodic"),
        short_term_keeps=Policy(max_age=parse_duration(matched["after"]), max_runs=most),
        episodic_keeps=Policy(max_age=parse_duration(matched["forget"] or "")),
    )


def _open_part(
    url: str,
    home: Path,
    tenant: str,
    embedder: Embedder | None,
    environment: Mapping[str, str] | None,
) -> Opened | None:
    """A log or an index; None when what follows the scheme cannot be understood."""
    # Those that need a package of their own are imported when they are opened.
    name, _, rest = url.partition(":")
    match name.split("+"):
        case ["memory"]:
            return MemoryStorage(tenant=tenant) if url in {"memory:", "memory://"} else None
        case ["sqlite"]:
            path = _parse_path(url, home / _FILE)
            return path and SQLiteStorage(path, tenant=tenant, embedder=embedder)
        case ["file"]:
            from sifaka.storage.files import FileStorage

            folder = _parse_path(url, home / "runs")
            return folder and FileStorage(folder, tenant=tenant)
        case [kind, "mcp"]:
            from sifaka.storage.tool_backed import MilvusToolIndex, RedisToolStorage
            from sifaka.storage.tool_backed.session import StdioToolSession

            try:
                command = shlex.split(rest)
            except ValueError as error:
                raise ConfigurationError(
                    f"{_mask_url(url)!r} is not a command line: {error}", "close its quotes"
                ) from error
            session = StdioToolSession(command, environment)
            make = RedisToolStorage if kind == "redis" else MilvusToolIndex
            return make(session, tenant=tenant, name=f"{name}:{session.shown}")
        case ["milvus", *_]:
            from sifaka.storage.milvus import MilvusIndex

            return MilvusIndex(url, tenant=tenant, embedder=embedder)
        case ["elasticsearch", *_]:
            from sifaka.storage.elasticsearch import ElasticsearchIndex

            return ElasticsearchIndex(url, tenant=tenant, embedder=embedder)
        case _:
            from sifaka.storage.redis import RedisStorage

            return RedisStorage(url, tenant=tenant)


def _plug_in(name: str, url: str, home: Path, tenant: str, plugins: Plugins) -> ThoughtStore | None:
    make = plugins.load("stores", name)
    if make is None:
        return None
    try:
        store = make(url, home=home, tenant=tenant)
    except SifakaError:
        raise
    # Foreign code: whatever is wrong with it is reported in our words.
    except Exception as error:
        report_failure(logger, f"plugin {name}", error)
        raise PluginError(
            f"the plugin for {name!r} stores could not open one: {type(error).__name__}",
            "see the log, and the plugin's documentation",
        ) from error
    missing = [each for each in _METHODS if not hasattr(store, each)]
    if missing:
        raise PluginError(
            f"the plugin for {name!r} stores made a {type(store).__name__}, which has no "
            f"{', '.join(missing)}",
            "report it to its makers",
        )
    return cast("ThoughtStore", store)


def _parse_path(url: str, default: Path) -> Path | None:
    """The path after the scheme; None for one that is wrong."""
    rest = url.partition(":")[2]
    path = rest.removeprefix("///")
    # An option or a home folder in the URL would end up in the name of a new file.
    if path == rest or not path or path.startswith("~") or "?" in path:
        return None if rest else default
    return Path(path)


def _mask_url(url: str) -> str:
    """A URL without what may be a password or a key."""
    return re.sub(
        r"(api_key|password|token)=[^&,\s]*", r"\1=***", re.sub(r"//[^/]*@", "//***@", url)
    )
