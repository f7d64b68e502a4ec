"""`sifaka doctor`: what is configured, and does it work."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import anyio

from sifaka.chain import asks_a_provider
from sifaka.critics import CRITICS
from sifaka.embeddings.protocol import Embedder
from sifaka.errors import SifakaError
from sifaka.models import CALLER, HOST
from sifaka.plugins import Family, Plugins, among
from sifaka.storage import MemoryStorage
from sifaka.storage.catalogue import SCHEMES
from sifaka.storage.protocol import Health
from sifaka.validators import VALIDATORS
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_json, print_lines
from sifaka_mcp.installation import other_project
from sifaka_mcp.lines import visible
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.folders import config_folder
from sifaka_mcp.settings.project import read_project
from sifaka_mcp.settings.sources import unknown_names
from sifaka_mcp.stores.catalogue import open_url

LOCAL = ("model2vec:", "fastembed:", "sentence-transformers:")
"""The prefixes of embedding models that run here and cost nothing."""
_US = "sifaka-mcp"
_NEEDS = re.compile(
    r"(?P<package>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?.*\bextra == ['\"](?P<of>[\w-]+)['\"]"
)
"""What an extra of a package needs, as its metadata say it."""
Finding = tuple[str, bool, str]
"""The thing checked, True when it works, and the finding."""


ARGUMENTS = (
    opt.JSON,
    opt.argument("--model", help="look at this model instead of the configured one"),
    opt.argument("--index", action="store_true", help="index the runs that the search index lacks"),
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Look at every part; 0 when all of them work, 2 when a setting is wrong."""
    findings = [
        *(("setting", False, line) for line in (*options.wrong, *unknown_names(os.environ))),
        *(_tried("index", partial(_indexing, settings)) if options.index else ()),
        *examine(settings),
    ]
    if options.json:
        report = [{"part": p, "works": works, "found": found} for p, works, found in findings]
        print_json(report)
    else:
        print_lines(
            f"{'ok  ' if works else 'FAIL'}  {part}: {visible(found)}"
            for part, works, found in findings
        )
    failed = not all(works for _, works, _ in findings)
    return 2 if options.wrong else int(failed)


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at each part in turn. No model is called: that would cost money."""
    yield "sifaka", True, f"{version(_US)}, python {sys.version.split()[0]}"
    yield "extras", True, ", ".join(_extras()) or "none"
    if (other := other_project()) is not None:
        yield "installation", False, other
    yield from _project()
    semantic, embedder = _embedder(settings)
    yield from _tried("store", partial(_store, settings, embedder))
    yield semantic
    yield from _models(settings)
    yield from _adapters(settings)
    yield from _plugins(settings)
    yield _editor()
    yield from _access(settings)


def _extras() -> Iterator[str]:
    """The extras of which every package is installed."""
    named = {found["of"] for line in requires(_US) or () if (found := _NEEDS.match(line))}
    yield from (extra for extra in sorted(named) if _has(_US, extra))


def _has(package: str, extra: str) -> bool:
    """True when a package is installed, and all that an extra of it needs."""
    try:
        needed = [found for line in requires(package) or () if (found := _NEEDS.match(line))]
    except PackageNotFoundError:
        return False
    return all(
        _has(found["package"], each)
        for found in needed
        if found["of"] == extra
        for each in (found["extras"] or "").split(",")
    )


def _tried(part: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of a look at a part; that it fails is one too."""
    try:
        yield from look()
    except SifakaError as error:
        yield part, False, str(error)


def _project() -> Iterator[Finding]:
    """The file of the current folder, and what of it is not taken."""
    project = read_project(Path.cwd(), config_folder("sifaka"))
    if project is not None:
        taken = ", ".join(project.settings) or "no settings"
        yield "project file", project.note is None, project.note or f"{project.path}: {taken}"


def _indexing(settings: Settings) -> Iterator[Finding]:
    from sifaka.storage import CachedStorage

    async def index() -> int:
        async with aclosing(settings.open_store()) as store:
            return await store.index_missing() if isinstance(store, CachedStorage) else 0

    indexed = anyio.run(index)
    yield "index", True, f"{indexed} runs were lacking (tenant {settings.tenant!r})"


def _store(settings: Settings, embedder: Embedder | None) -> Iterator[Finding]:
    async def look() -> tuple[Health, ...]:
        opened = open_url(
            settings.store,
            home=settings.home,
            tenant=settings.tenant,
            embedder=embedder,
            plugins=Plugins(settings.plugins),
        )
        async with aclosing(opened) as store:
            return await store.health()

    for part in anyio.run(look):
        yield "store", part.works, f"{part.part}: {part.found} (tenant {settings.tenant!r})"


def _embedder(settings: Settings) -> tuple[Finding, Embedder | None]:
    """Findings on the embedding model, and the model if the store can work with it."""
    name = settings.embedding_model
    if name is None:
        return ("semantic search", True, "disabled: no embedding model configured"), None
    part = "embedding model"
    try:
        embedder = settings.open_embedder()
        assert embedder is not None, "one is configured"
        if not name.startswith(LOCAL):
            return (part, True, f"{name} (not called)"), embedder
        return (part, True, f"{name}: {anyio.run(embedder.dimension)} dimensions"), embedder
    except SifakaError as error:
        return (part, False, str(error)), None


def _models(settings: Settings) -> Iterator[Finding]:
    if settings.model == HOST:
        yield "model", True, f"{HOST}: the model of a client with sampling, else the caller"
    elif asks_a_provider(settings.model):
        yield from _model("model", settings.model)
    else:
        told = f"{settings.model}: no provider, the editor and the caller write"
        yield "model", True, told
    if settings.judge_model is not None:
        yield from _model("judge model", settings.judge_model)
    for name in settings.fallback_models:
        if name not in {HOST, CALLER}:  # whether those are there, each request shows
            yield from _model("fallback model", name)


def _model(part: str, name: str) -> Iterator[Finding]:
    from sifaka.models.provider import provider_model

    def look() -> Iterator[Finding]:
        model = provider_model(name)
        yield part, True, f"{model.model_id} at {model.base_url} (not called)"

    yield from _tried(part, look)


def _adapters(settings: Settings) -> Iterator[Finding]:
    """The answer of each source of evidence."""
    try:
        known = settings.open_adapters(MemoryStorage()).names
    except SifakaError:
        return  # the embedding model, which is reported by itself
    for name in settings.adapter_keys:
        if name not in known:
            yield "adapter key", False, f"no adapter is named {name!r}"
    if not known:
        return
    # The store with past texts may not open.
    yield from _tried("adapters", lambda: _answers(anyio.run(_health_of_adapters, settings), known))


def _answers(found: Mapping[str, Health], known: Iterable[str]) -> Iterator[Finding]:
    for name in known:
        yield f"adapter {name}", found[name].works, f"{found[name].part}: {found[name].found}"


async def _health_of_adapters(settings: Settings) -> dict[str, Health]:
    async with (
        aclosing(settings.open_store()) as store,
        settings.open_adapters(store) as adapters,
    ):
        return await adapters.health()


def _plugins(settings: Settings) -> Iterator[Finding]:
    """The plugins of the allowed packages, found without importing them."""
    plugins = Plugins(settings.plugins)
    built_in: dict[Family, Mapping[str, object]] = {
        "critics": CRITICS,
        "validators": VALIDATORS,
        "stores": SCHEMES,
    }
    offering: set[str] = set()
    for family, names in built_in.items():
        for name, package in plugins.offered(family, names).items():
            offering.add(package)
            yield "plugin", True, f"{package}: {family} {name!r} (not loaded)"
        for name, package in plugins.shadowed(family, names).items():
            offering.add(package)
            told = f"{package}: {family} {name!r} is left out: one of that name is built in"
            yield "plugin", False, told
    for package in settings.plugins:
        if not among(package, offering):
            yield "plugin", False, f"{package}: not installed, or offers nothing"


def _editor() -> Finding:
    from sifaka.editor import lint

    notes = lint("This is is a test.").degraded
    return "editor", not notes, "; ".join(notes) or "spelling, grammar and own rules"


def _access(settings: Settings) -> Iterator[Finding]:
    """The access over HTTP, where it is configured."""
    if settings.auth_tokens_file is not None:
        yield from _tried("tokens file", partial(_tokens, settings.auth_tokens_file))
    if settings.oauth_issuer is not None:
        asked = partial(_issuer, settings.oauth_issuer, settings.oauth_jwks_url)
        yield from _tried("issuer", asked)


def _tokens(path: Path) -> Iterator[Finding]:
    from sifaka_mcp.auth.tokens_file import read_grants

    grants = read_grants(path).values()
    over = sum(grant.is_over(datetime.now(UTC)) for grant in grants)
    valid = len(grants) - over
    yield "tokens file", valid > 0, f"{path}: {valid} valid, {over} expired"


def _issuer(issuer: str, url: str | None) -> Iterator[Finding]:
    from sifaka_mcp.auth.jwks import KeySet

    keys = anyio.run(KeySet(issuer, url).fetch)
    yield "issuer", True, f"{issuer}: {len(keys)} keys"
