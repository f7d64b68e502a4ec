"""The adapters that specs name: `name=scheme:rest`, with what their URLs and their keys say."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import Adapter, Adapters, Scheme, authorization
from sifaka.evidence.sources.folder import FolderAdapter
from sifaka.evidence.sources.http import shown
from sifaka.evidence.sources.in_process import ThoughtsAdapter
from sifaka.evidence.sources.mediawiki import MediaWikiAdapter
from sifaka.evidence.sources.records import (
    ARTICLES,
    EUROPE_PMC,
    MEILISEARCH,
    PAPERS,
    QUERY_DSL,
    SOLR,
    WORKS,
    Fields,
    RecordAdapter,
    Server,
    atomwalker,
)
from sifaka.extras import require
from sifaka.storage.protocol import ThoughtStore

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SCHEME = re.compile(r"([a-z]+)(\+https?)?:(.*)", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,99}")
_CONTACT = re.compile(r"[\x21-\x7e]{1,200}")
_INDEX = re.compile(r"[\w*%.~-][\w*%.~+-]{0,199}")
FIELD_OPTIONS = ("text", "title", "author", "url", "doi", "id", "date")
"""The parameters that name fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterSpec:
    """The parts of a spec."""

    name: str
    scheme: str
    """Such as `solr`, without `+https`."""
    rest: str = field(repr=False)
    """The text after the colon, or the whole http URL; it may hold secrets."""
    is_url: bool
    authorization: str | None = field(default=None, repr=False)
    """The header that carries its key; None without one."""
    store: ThoughtStore | None = field(default=None, repr=False)
    """The runs of the program."""

    def wrong(self, what: str, suggestion: str = "") -> NoReturn:
        """Complain about this spec, without anything of its URL.

        Raises:
            ConfigurationError: Always; without a suggestion it shows the form.
        """
        raise ConfigurationError(
            f"the adapter {self.name!r} {what}",
            suggestion or f"such as {SCHEMES[self.scheme].form}",
        )

    def parts(self) -> SplitResult:
        """The parts of its URL, which has no credentials.

        Raises:
            ConfigurationError: It is no http URL, or has credentials.
        """
        if not self.is_url:
            self.wrong("needs the URL of a server")
        try:
            parts = urlsplit(self.rest)
            valid = bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            self.wrong("has a wrong host or port")
        if "@" in parts.netloc:
            self.wrong(
                "has credentials in its URL",
                f"give them as SIFAKA_ADAPTER_KEYS={self.name}=user:password",
            )
        if not valid or parts.fragment or not self.rest.isprintable() or " " in self.rest:
            self.wrong("has a wrong URL")
        return parts

    def index(self) -> tuple[str, str, str]:
        """The URL of a server, the index that is the last part of its path, and the query.

        Raises:
            ConfigurationError: There is no index in it.
        """
        parts = self.parts()
        path, _, index = parts.path.rstrip("/").rpartition("/")
        if not index:
            self.wrong("names no index")
        index = quote(unquote(index), safe="*")
        if not _INDEX.fullmatch(index) or index in {".", ".."}:
            self.wrong("has a wrong index")
        return f"{parts.scheme}://{parts.netloc}{path}", index, parts.query

    def options(self, query: str, known: Sequence[str]) -> dict[str, list[str]]:
        """The parameters of its URL, each with its values.

        Raises:
            ConfigurationError: One is unknown, or empty.
        """
        values: dict[str, list[str]] = {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            if name not in known:
                keys = "; keys go into SIFAKA_ADAPTER_KEYS" if "key" in name.lower() else ""
                self.wrong(
                    f"has an unknown option {name[:40]!r}",
                    f"allowed: {', '.join(known) or 'none'}{keys}",
                )
            if not (_CONTACT if name == "contact" else _FIELD).fullmatch(value):
                what = "a mail address or a URL" if name == "contact" else "a name or a word"
                self.wrong(f"has a wrong {name!r}", f"give {what}")
            values.setdefault(name, []).append(value)
        return values


_LANGUAGE = re.compile(r"[a-z]{2,12}(?:-[a-z]{2,12}){0,2}")


def _mediawiki(spec: AdapterSpec) -> Adapter:
    """An adapter of a wiki; `wikipedia:` names one by its language, which gives plain text."""
    if spec.scheme == "wikipedia":
        language, _, query = spec.rest.partition("?")
        if spec.is_url or not _LANGUAGE.fullmatch(language):
            spec.wrong("needs the code of a language")
        base = f"https://{language}.wikipedia.org/w/api.php"
    else:
        require(f"the adapter {spec.name!r}", "evidence", "bs4")
        parts = spec.parts()
        base, query = shown(parts), parts.query
    return MediaWikiAdapter(
        base,
        name=spec.name,
        contact=spec.options(query, ("contact",)).get("contact", [""])[-1],
        authorization=spec.authorization,
    )


def _open_index(spec: AdapterSpec, server: Server, *, own: tuple[str, ...] = ()) -> Adapter:
    """An adapter for an index whose fields the URL names; `own` are fields of this kind alone."""
    base, index, query = spec.index()
    named = spec.options(query, (*FIELD_OPTIONS, *own))
    text = tuple(named.pop("text", Fields().text))  # which may be given several times
    return RecordAdapter(
        server,
        base,
        index=index,
        name=spec.name,
        fields=Fields(text=text, **{option: values[-1] for option, values in named.items()}),
        authorization=spec.authorization,
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
        authorization=spec.authorization,
    )


def _europepmc(spec: AdapterSpec) -> Adapter:
    """An adapter of the public service; a URL, such as that of a mirror, replaces its own."""
    require(f"the adapter {spec.name!r}", "evidence", "bs4")
    base = "https://www.ebi.ac.uk/europepmc/webservices/rest"
    if spec.is_url:
        base = shown(spec.parts())
    elif spec.rest:
        spec.wrong("takes nothing after the colon")
    return RecordAdapter(EUROPE_PMC, base, index="search", name=spec.name, fields=ARTICLES)


def _folder(spec: AdapterSpec) -> Adapter:
    path = spec.rest.removeprefix("//")
    if spec.is_url or not path or "\0" in path:
        spec.wrong("needs the path of a folder")
    try:
        return FolderAdapter(Path(path).expanduser().absolute(), name=spec.name)
    except RuntimeError:
        spec.wrong("names the home of a user who is not known")


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
    bare: Scheme | None = None
    """The scheme of a bare key; None where no key is taken."""


SCHEMES: Mapping[str, _Scheme] = MappingProxyType(
    {
        "wikipedia": _Scheme("wikipedia:en", _mediawiki),
        "mediawiki": _Scheme("mediawiki+https://host/w/api.php", _mediawiki, "Bearer"),
        "elasticsearch": _Scheme(
            "elasticsearch+https://host:9200/index?text=body",
            partial(_open_index, server=QUERY_DSL),
            bare="ApiKey",
        ),
        "opensearch": _Scheme(
            "opensearch+https://host:9200/index?text=body",
            partial(_open_index, server=QUERY_DSL),
            bare="Bearer",
        ),
        "solr": _Scheme(
            "solr+http://host:8983/solr/core?text=body",
            partial(_open_index, server=SOLR),
            bare="Bearer",
        ),
        "meilisearch": _Scheme(
            "meilisearch+https://host:7700/index?text=body",
            partial(_open_index, server=MEILISEARCH, own=("timestamp",)),
            bare="Bearer",
        ),
        "atomwalker": _Scheme("atomwalker+https://host", _atomwalker, "Bearer"),
        "europepmc": _Scheme("europepmc:", _europepmc),
        "folder": _Scheme("folder:/path/to/notes", _folder),
        "thoughts": _Scheme("thoughts:", _thoughts),
    }
)
"""Every kind of source that `open_adapters` understands."""
FORMS = " | ".join(scheme.form for scheme in SCHEMES.values())


def parse_adapter(text: str) -> AdapterSpec:
    """The parts of a spec such as `wiki=mediawiki+https://host/w/api.php`.

    Args:
        text: The spec; without `name=` its scheme is the name.

    Raises:
        ConfigurationError: It is no spec of one of `SCHEMES`.
    """
    name, equals, rest = text.strip().partition("=")
    if not equals or ":" in name:
        name, rest = "", text.strip()
    name = name.strip()
    if name and not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name[:40]!r} is no name of an adapter",
            "names are 1 to 40 lower-case letters, digits, - and _, a letter first",
        )
    allowed = f"allowed: {FORMS}"
    match = _SCHEME.fullmatch(rest.strip())
    if match is None:
        what = name or rest.strip().partition(":")[0][:40]
        raise ConfigurationError(f"{what!r} names no source", allowed)
    scheme, transport, rest = match[1].lower(), (match[2] or "").lower(), match[3]
    name = name or scheme[:40]
    if scheme not in SCHEMES:
        raise ConfigurationError(
            f"the adapter {name!r} has an unknown kind {scheme[:40]!r}", allowed
        )
    return AdapterSpec(
        name=name,
        scheme=scheme,
        rest=f"{transport.removeprefix('+')}:{rest}" if transport else rest,
        is_url=bool(transport),
    )


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
    opened: list[Adapter] = []
    for text in specs:
        spec = replace(parse_adapter(text), store=store)
        scheme = SCHEMES[spec.scheme]
        if keys and spec.name in keys:
            if scheme.bare is None:
                spec.wrong(f"takes no key: it is of the kind {spec.scheme!r}", "leave its key out")
            try:
                header = authorization(keys[spec.name], bare=scheme.bare)
            except ConfigurationError as error:
                spec.wrong(f"has a wrong key: {error.message}", error.suggestion or "")
            spec = replace(spec, authorization=header)
        opened.append(scheme.make(spec))
    return Adapters(opened)
