"""`sifaka doctor`: what is configured, and does it work."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from sifaka.chain import Chain, asks_a_provider
from sifaka.critics import CRITICS
from sifaka.errors import SifakaError
from sifaka.models import CALLER, HOST
from sifaka.plugins import Family, Plugins, among
from sifaka.storage import HybridMemory, MemoryStorage
from sifaka.storage.log import every_run
from sifaka.storage.opening import SCHEMES
from sifaka.validators import VALIDATORS
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.process import lines
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.installation import other_project
from sifaka_mcp.safe_text import visible
from sifaka_mcp.settings import Settings, config_folder
from sifaka_mcp.settings.sources import read_project, unknown_names
from sifaka_mcp.stores.catalogue import open_url

Findings = AsyncIterator[tuple[str, bool, str]]
"""Of each the thing checked, True when it works, and what was found."""


@opt.command(
    opt.JSON,
    opt.argument("--model", help="look at this model instead of the configured one"),
    opt.argument("--probe", action="store_true", help="give the model a small task"),
    opt.argument("--index", action="store_true", help="index the runs that the search index lacks"),
)
async def doctor(session: Session) -> Ending:
    """Look at every part; 0 when all of them work, 2 when a setting is wrong."""
    settings, wrong = session.settings, session.options.wrong
    findings = [("setting", False, line) for line in (*wrong, *unknown_names(os.environ))]
    looks = {"index": _index_missing, **LOOKS, "probe": _probe}
    # Those with an option of their name run only when it is given.
    for part in (each for each in looks if getattr(session.options, each, None) is not False):
        # A look that fails is a finding too.
        try:
            findings += [finding async for finding in looks[part](settings)]
        except SifakaError as error:
            findings.append((part, False, str(error)))
    return session.answer(
        [{"part": part, "works": works, "found": found} for part, works, found in findings],
        lines(
            f"{'ok  ' if w else 'FAIL'}  {part}: {visible(found)}" for part, w, found in findings
        ),
        2 if wrong else int(not all(works for _, works, _ in findings)),
    )


async def _check_installation(settings: Settings) -> Findings:
    yield "sifaka", True, f"{version('sifaka-mcp')}, python {sys.version.split()[0]}"
    if (other := other_project()) is not None:
        yield "installation", False, other


async def _check_project(settings: Settings) -> Findings:
    """The file of the current folder, and what of it is not accepted."""
    project = read_project(Path.cwd(), config_folder("sifaka"))
    if project is not None:
        summary = f"{project.path}: {', '.join(project.settings) or 'no settings'}"
        yield "project file", project.note is None, project.note or summary


async def _index_missing(settings: Settings) -> Findings:
    from sifaka.storage import CachedStorage

    async with aclosing(settings.open_store()) as store:
        indexed = await store.index_missing() if isinstance(store, CachedStorage) else 0
    yield "index", True, f"{indexed} runs were lacking (tenant {settings.tenant!r})"


async def _check_store(settings: Settings) -> Findings:
    embedder = None
    with suppress(SifakaError):  # which is reported as the embedding model's
        embedder = settings.open_embedder()
    opened = open_url(
        settings.store,
        home=settings.home,
        tenant=settings.tenant,
        embedder=embedder,
        plugins=Plugins(settings.plugins),
    )
    async with aclosing(opened) as store:
        for part in await store.health():
            yield "store", part.works, f"{part.part}: {part.found} (tenant {settings.tenant!r})"
        if isinstance(store, HybridMemory):
            for name, memory in (("short-term", store.short_term), ("episodic", store.episodic)):
                runs = sum([1 async for _ in every_run(memory)])
                yield f"{name} memory", True, f"runs: {runs}, in {memory.place}"


async def _check_embedding(settings: Settings) -> Findings:
    from sifaka.embeddings.catalogue import LOCAL

    name, embedder = settings.embedding_model, settings.open_embedder()
    if name is None or embedder is None:
        yield "semantic search", True, "disabled: no embedding model configured"
    elif name.partition(":")[0] in LOCAL:  # it costs nothing
        yield "embedding model", True, f"{name}: {await embedder.dimension()} dimensions"
    else:
        yield "embedding model", True, f"{name} (not called)"


async def _check_models(settings: Settings) -> Findings:
    from sifaka.models.provider import provider_model

    # Whether the host or the caller is there, each request shows.
    fallbacks = [name for name in settings.fallback_models if name not in {HOST, CALLER}]
    models = [("judge model", settings.judge_model), *(("fallback model", n) for n in fallbacks)]
    if settings.model == HOST:
        yield "model", True, f"{HOST}: the model of a client with sampling, else the caller"
    elif asks_a_provider(settings.model):
        models = [("model", settings.model), *models]
    else:
        yield "model", True, f"{settings.model}: no provider, the editor and the caller write"
    for part, name in models:
        if name is not None:
            try:
                model = provider_model(name)
                yield part, True, f"{model.model_id} at {model.base_url} (not called)"
            except SifakaError as error:
                yield part, False, str(error)


async def _probe(settings: Settings) -> Findings:
    """What the model makes of a small task, in which form it answers, and how quickly."""
    result = await Chain(
        model=settings.model, judge_model=settings.judge_model, effort="quick"
    ).run("Correct the mistakes alone.", text="We ship ship you're order.")
    used = result.usage
    text = (
        f"{result.text!r} ({result.stop_reason}): {used.model_calls} calls, {used.seconds:.1f} s, "
        f"{used.output_tokens / max(used.seconds, 0.1):.0f} tokens of output a second"
        if used.model_calls
        else "no model was asked: give --model provider:name"
    )
    yield "probe", result.changed, "; ".join((text, *result.degraded))


async def _check_adapters(settings: Settings) -> Findings:
    """The answer of each source of evidence."""
    names = settings.open_adapters(MemoryStorage()).names
    for name in [key for key in settings.adapter_keys if key not in names]:
        yield "adapter key", False, f"no adapter is named {name!r}"
    if not names:
        return
    # The store with past texts may not open.
    async with (
        aclosing(settings.open_store()) as store,
        settings.open_adapters(store) as adapters,
    ):
        health = await adapters.health()
    for name in names:
        yield f"adapter {name}", health[name].works, f"{health[name].part}: {health[name].found}"


async def _check_plugins(settings: Settings) -> Findings:
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
            message = f"{package}: {family} {name!r} is left out: one of that name is built in"
            yield "plugin", False, message
    for package in settings.plugins:
        if not among(package, offering):
            yield "plugin", False, f"{package}: not installed, or offers nothing"


async def _check_editor(settings: Settings) -> Findings:
    from sifaka.editor import lint

    notes = lint("This is is a test.").degraded
    yield "editor", not notes, "; ".join(notes) or "spelling, grammar and own rules"


async def _check_tokens(settings: Settings) -> Findings:
    from sifaka_mcp.auth.tokens_file import read_grants

    path = settings.auth_tokens_file
    if path is not None:
        grants = read_grants(path).values()
        over = sum(grant.is_over(datetime.now(UTC)) for grant in grants)
        valid = len(grants) - over
        yield "tokens file", valid > 0, f"{path}: {valid} valid, {over} expired"


async def _check_issuer(settings: Settings) -> Findings:
    from sifaka_mcp.auth.access import KeySet

    issuer = settings.oauth_issuer
    if issuer is not None:
        keys = await KeySet(issuer, settings.oauth_jwks_url).fetch()
        yield "issuer", True, f"{issuer}: {len(keys)} keys"


LOOKS: Mapping[str, Callable[[Settings], Findings]] = {
    "sifaka": _check_installation,
    "project file": _check_project,
    "store": _check_store,
    "embedding model": _check_embedding,
    "model": _check_models,
    "adapters": _check_adapters,
    "plugin": _check_plugins,
    "editor": _check_editor,
    "tokens file": _check_tokens,
    "issuer": _check_issuer,
}
"""The check of each part, in this order. None calls a model: that would cost money."""
