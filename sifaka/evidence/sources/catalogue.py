"""Opening adapters by their specs."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from sifaka.evidence.sources.collection import Adapter, Adapters
from sifaka.evidence.sources.folder import FolderAdapter
from sifaka.evidence.sources.in_process import ThoughtsAdapter
from sifaka.evidence.sources.keys import Scheme
from sifaka.evidence.sources.records import RecordAdapter, Server
from sifaka.evidence.sources.search_servers import (
    MEILISEARCH,
    PAPERS,
    QUERY_DSL,
    SOLR,
    WORKS,
    atomwalker,
)
from sifaka.evidence.sources.spec import FIELD_OPTIONS, AdapterSpec, fields_of, parse_adapter
from sifaka.extras import require
from sifaka.storage.protocol import ThoughtStore

_LANGUAGE = re.compile(r"[a-z]{2,12}(?:-[a-z]{2,12}){0,2}")


def _mediawiki(spec: AdapterSpec) -> Adapter:
    # Wikipedia gives plain text.
    require(f"the adapter {spec.name!r}", "evidence", "bs4")
    parts = spec.parts()
    return _wiki(spec, f"{parts.scheme}://{parts.netloc}{parts.path}", parts.query)


def _wikipedia(spec: AdapterSpec) -> Adapter:
    language, _, query = spec.rest.partition("?")
    if spec.is_url or not _LANGUAGE.fullmatch(language):
        spec.wrong("needs the code of a language")
    return _wiki(spec, f"https://{language}.wikipedia.org/w/api.php", query)


def _wiki(spec: AdapterSpec, base: str, query: str) -> Adapter:
    # It takes three times as long to import as all other adapters together.
    from sifaka.evidence.sources.mediawiki import MediaWikiAdapter

    contact = spec.options(query, ("contact",)).get("contact", [""])[-1]
    return MediaWikiAdapter(
        base, name=spec.name, contact=contact, authorization=spec.authorization()
    )


def _indexed(
    spec: AdapterSpec,
    server: Server,
    *,
    own: tuple[str, ...] = (),
    bare: Scheme = "Bearer",
) -> Adapter:
    """An adapter for an index whose fields the URL names; `own` are fields of this kind alone."""
    base, index, query = spec.index()
    return RecordAdapter(
        server,
        base,
        index=index,
        name=spec.name,
        fields=fields_of(spec.options(query, (*FIELD_OPTIONS, *own))),
        authorization=spec.authorization(bare=bare),
    )


def _atomwalker(spec: AdapterSpec) -> Adapter:
    parts = spec.parts()
    base, index, query = f"{parts.scheme}://{parts.netloc}", WORKS, parts.query
    if parts.path.strip("/"):
        base, index, query = spec.index()
    strategy = spec.options(query, ("strategy",)).get("strategy", ["fast"])[-1]
    if strategy not in {"fast", "comprehensive"}:
        spec.wrong("has a wrong 'strategy'", "fast or comprehensive")
    return RecordAdapter(
        # The service leaves no dates out.
        Server(partial(atomwalker, strategy=strategy), dated_by=lambda _: ""),
        base,
        index=index,
        name=spec.name,
        fields=PAPERS,
        authorization=spec.authorization(),
    )


def _biomedical(spec: AdapterSpec) -> Adapter:
    """An adapter of a public service; a URL, such as that of a mirror, replaces its own."""
    from sifaka.evidence.sources.biomedical import FIELDS, SERVICES

    require(f"the adapter {spec.name!r}", "evidence", "bs4")
    server, base, index = SERVICES[spec.scheme]
    if spec.is_url:
        parts = spec.parts()
        base = f"{parts.scheme}://{parts.netloc}{parts.path}"
    elif spec.rest:
        spec.wrong("takes nothing after the colon")
    return RecordAdapter(server, base, index=index, name=spec.name, fields=FIELDS)


def _folder(spec: AdapterSpec) -> Adapter:
    path = spec.rest.removeprefix("//")
    if spec.is_url or not path or "\0" in path:
        spec.wrong("needs the path of a folder")
    try:
        folder = Path(path).expanduser()
    except RuntimeError:
        spec.wrong("names the home of a user who is not known")
    return FolderAdapter(folder.absolute(), name=spec.name)


def _thoughts(spec: AdapterSpec) -> Adapter:
    if spec.rest.strip("/") or spec.is_url:
        spec.wrong("takes nothing after `thoughts:`", "it searches the store of the runs")
    if spec.store is None:
        spec.wrong("needs a store of runs", "pass one to open_adapters")
    return ThoughtsAdapter(spec.store, name=spec.name)


@dataclass(frozen=True, slots=True)
class _Scheme:
    form: str
    make: Callable[[AdapterSpec], Adapter]
    takes_key: bool = False


SCHEMES: Mapping[str, _Scheme] = MappingProxyType(
    {
        "wikipedia": _Scheme("wikipedia:en", _wikipedia),
        "mediawiki": _Scheme("mediawiki+https://host/w/api.php", _mediawiki, True),
        "elasticsearch": _Scheme(
            "elasticsearch+https://host:9200/index?text=body",
            partial(_indexed, server=QUERY_DSL, bare="ApiKey"),
            takes_key=True,
        ),
        "opensearch": _Scheme(
            "opensearch+https://host:9200/index?text=body",
            partial(_indexed, server=QUERY_DSL),
            takes_key=True,
        ),
        "solr": _Scheme(
            "solr+http://host:8983/solr/core?text=body",
            partial(_indexed, server=SOLR),
            takes_key=True,
        ),
        "meilisearch": _Scheme(
            "meilisearch+https://host:7700/index?text=body",
            partial(_indexed, server=MEILISEARCH, own=("timestamp",)),
            takes_key=True,
        ),
        "atomwalker": _Scheme("atomwalker+https://host", _atomwalker, True),
        "europepmc": _Scheme("europepmc:", _biomedical),
        "clinicaltrials": _Scheme("clinicaltrials:", _biomedical),
        "folder": _Scheme("folder:/path/to/notes", _folder),
        "thoughts": _Scheme("thoughts:", _thoughts),
    }
)
"""Every kind of source that `open_adapters` understands."""
FORMS = " | ".join(scheme.form for scheme in SCHEMES.values())


def open_adapters(
    specs: Iterable[str],
    *,
    keys: Mapping[str, str] | None = None,
    store: ThoughtStore | None = None,
) -> Adapters:
    """The adapters that specs name; no file is read and no server asked before the first search.

    The caller closes them with `aclose`.

    Args:
        specs: Each `name=` and one of `FORMS`; without a name it has that of its scheme.
        keys: By the names of adapters: `user:password`, a header's value such as `ApiKey ...` or
            `Bearer ...`, or a bare token. Names that no spec has are left alone.
        store: Where past texts are, for `thoughts:`.

    Raises:
        ConfigurationError: A spec or a key is wrong; the message has nothing that may be secret.
    """
    forms = {name: scheme.form for name, scheme in SCHEMES.items()}
    opened: list[Adapter] = []
    for text in specs:
        spec = parse_adapter(text, forms)
        scheme = SCHEMES[spec.scheme]
        key = (keys or {}).get(spec.name)
        if key is not None and not scheme.takes_key:
            spec.wrong(f"takes no key: it is of the kind {spec.scheme!r}", "leave its key out")
        opened.append(scheme.make(replace(spec, key=key, store=store)))
    return Adapters(opened)
