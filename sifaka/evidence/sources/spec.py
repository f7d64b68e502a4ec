"""The text that names an adapter: `name=scheme:rest`, and what its URL says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.keys import Scheme, authorization
from sifaka.evidence.sources.records import Fields
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
    form: str
    """An example of this scheme, for errors."""
    rest: str = field(repr=False)
    """The text after the colon, or the whole http URL; it may hold secrets."""
    is_url: bool
    key: str | None = field(default=None, repr=False)
    store: ThoughtStore | None = field(default=None, repr=False)
    """The runs of the program."""

    def authorization(self, *, bare: Scheme = "Bearer") -> str | None:
        """The header that carries the key; None without one.

        Raises:
            ConfigurationError: The key cannot be sent.
        """
        if self.key is None:
            return None
        try:
            return authorization(self.key, bare=bare)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"the adapter {self.name!r}: {error.message}", error.suggestion
            ) from error

    def wrong(self, what: str, suggestion: str = "") -> NoReturn:
        """Complain about this spec, without anything of its URL.

        Raises:
            ConfigurationError: Always; without a suggestion it shows the form.
        """
        raise ConfigurationError(
            f"the adapter {self.name!r} {what}", suggestion or f"such as {self.form}"
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
            known = bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            self.wrong("has a wrong host or port")
        if "@" in parts.netloc:
            self.wrong(
                "has credentials in its URL",
                f"give them as SIFAKA_ADAPTER_KEYS={self.name}=user:password",
            )
        if not known or parts.fragment or not self.rest.isprintable() or " " in self.rest:
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
        found: dict[str, list[str]] = {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            if name not in known:
                keys = "; keys go into SIFAKA_ADAPTER_KEYS" if "key" in name.lower() else ""
                allowed = ", ".join(known) or "none"
                self.wrong(f"has an unknown option {name[:40]!r}", f"allowed: {allowed}{keys}")
            if not (_CONTACT if name == "contact" else _FIELD).fullmatch(value):
                what = "a mail address or a URL" if name == "contact" else "a name or a word"
                self.wrong(f"has a wrong {name!r}", f"give {what}")
            found.setdefault(name, []).append(value)
        return found


def parse_adapter(text: str, forms: Mapping[str, str]) -> AdapterSpec:
    """The parts of a spec such as `wiki=mediawiki+https://host/w/api.php`.

    Args:
        text: The spec; without `name=` its scheme is the name.
        forms: An example of each scheme, by its name.

    Raises:
        ConfigurationError: It is no spec of one of these schemes.
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
    allowed = f"allowed: {' | '.join(forms.values())}"
    found = _SCHEME.fullmatch(rest.strip())
    if found is None:
        shown = name or rest.strip().partition(":")[0][:40]
        raise ConfigurationError(f"{shown!r} names no source", allowed)
    scheme, transport, rest = found[1].lower(), (found[2] or "").lower(), found[3]
    name = name or scheme[:40]
    if scheme not in forms:
        raise ConfigurationError(
            f"the adapter {name!r} has an unknown kind {scheme[:40]!r}", allowed
        )
    return AdapterSpec(
        name=name,
        scheme=scheme,
        form=forms[scheme],
        rest=f"{transport.removeprefix('+')}:{rest}" if transport else rest,
        is_url=bool(transport),
    )


def fields_of(options: Mapping[str, Sequence[str]]) -> Fields:
    """The fields that a URL's parameters name; `text` may be given several times."""
    told = {name: values[-1] for name, values in options.items() if name != "text"}
    return Fields(**told, text=tuple(options.get("text", Fields().text)))
