"""The text that names an adapter: `name=scheme:rest`, and what its URL says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.fields import Fields

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SCHEME = re.compile(r"([a-z]+)(\+https?)?:(.*)", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,99}")
_CONTACT = re.compile(r"[\x21-\x7e]{1,200}")
_INDEX = re.compile(r"[\w*%.~-][\w*%.~+-]{0,199}")
FIELD_OPTIONS = ("text", "title", "url", "doi", "id", "date")
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

    def wrong(self, what: str, suggestion: str) -> NoReturn:
        """Complain about this spec, without anything of its URL.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(f"the adapter {self.name!r} {what}", suggestion)

    def parts(self, example: str) -> SplitResult:
        """The parts of its URL, which has no credentials.

        Raises:
            ConfigurationError: It is no http URL, or has credentials.
        """
        if not self.is_url:
            self.wrong("needs the URL of a server", f"such as {example}")
        try:
            parts = urlsplit(self.rest)
            known = bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            self.wrong("has a wrong host or port", f"such as {example}")
        if "@" in parts.netloc:
            self.wrong(
                "has credentials in its URL",
                f"give them as SIFAKA_ADAPTER_KEYS={self.name}=user:password",
            )
        if not known or parts.fragment or not self.rest.isprintable() or " " in self.rest:
            self.wrong("has a wrong URL", f"such as {example}")
        return parts

    def options(self, query: str, known: Sequence[str]) -> dict[str, list[str]]:
        """The parameters of its URL, each with its values.

        Args:
            query: What follows the question mark.
            known: The names of those that there are.

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


def parse_adapter(text: str, *, forms: str) -> AdapterSpec:
    """The parts of a spec such as `wiki=mediawiki+https://host/w/api.php`.

    Args:
        text: The spec; without `name=` its scheme is the name.
        forms: What is allowed, for errors.

    Raises:
        ConfigurationError: It is no spec.
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
    found = _SCHEME.fullmatch(rest.strip())
    if found is None:
        shown = name or rest.strip().partition(":")[0][:40]
        raise ConfigurationError(f"{shown!r} names no source", f"allowed: {forms}")
    scheme, transport, rest = found[1].lower(), (found[2] or "").lower(), found[3]
    url = f"{transport.removeprefix('+')}:{rest}" if transport else rest
    return AdapterSpec(name=name or scheme[:40], scheme=scheme, rest=url, is_url=bool(transport))


def base_and_index(spec: AdapterSpec, parts: SplitResult, example: str) -> tuple[str, str]:
    """The URL of a server and the index that is the last part of the path.

    Raises:
        ConfigurationError: There is no index in it.
    """
    path, _, index = parts.path.rstrip("/").rpartition("/")
    if not index:
        spec.wrong("names no index", f"such as {example}")
    index = quote(unquote(index), safe="*")
    if not _INDEX.fullmatch(index) or index in {".", ".."}:
        spec.wrong("has a wrong index", f"such as {example}")
    return f"{parts.scheme}://{parts.netloc}{path}", index


def fields_of(options: dict[str, list[str]]) -> Fields:
    """The fields that a URL's parameters name; `text` may be given several times."""
    told = {name: options[name][-1] for name in FIELD_OPTIONS[1:] if name in options}
    return Fields(**told, text=tuple(options.get("text", Fields().text)))
