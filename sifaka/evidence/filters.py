"""Filters on the documents of a search."""

from collections.abc import Iterable
from typing import Self
from urllib.parse import urlsplit

from pydantic import field_validator, model_validator

from sifaka._internal.immutable import Frozen
from sifaka.evidence.documents import Moment, SourceDocument


class SearchFilters(Frozen):
    """Filters on documents; they are applied to every answer, whatever its source has filtered.

    Raises:
        ValueError: They contradict each other, so that nothing could be found.
    """

    since: Moment | None = None
    """Written or last changed at this moment or later. A document without a date is left out."""
    until: Moment | None = None
    """Written or last changed before this moment. A document without a date is left out."""
    sites: tuple[str, ...] = ()
    """Hosts such as `en.wikipedia.org`, or URLs of which the host counts; their subdomains are
    included. Empty means any."""

    @field_validator("sites")
    @classmethod
    def _as_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        hosts = tuple(host_of(site if "//" in site else f"//{site}") for site in value)
        for site, host in zip(value, hosts, strict=True):
            if not host:
                raise ValueError(f"{site[:60]!r} is no host such as en.wikipedia.org")
        return hosts

    @model_validator(mode="after")
    def _leave_something(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError(
                f"since {self.since.isoformat()} is not before until {self.until.isoformat()}"
            )
        return self

    @property
    def asks_for_dates(self) -> bool:
        """True when a document without a date is left out."""
        return self.since is not None or self.until is not None

    def admits(self, document: SourceDocument) -> bool:
        """True when a document passes the filters."""
        written = document.published
        if self.asks_for_dates and written is None:
            return False
        if written is not None and (
            (self.since is not None and written < self.since)
            or (self.until is not None and written >= self.until)
        ):
            return False
        return not self.sites or _is_of(document.url, self.sites)


ANYTHING = SearchFilters()


def host_of(url: str) -> str:
    """The host of a URL in lower case; empty when it has none."""
    try:
        return (urlsplit(url.strip()).hostname or "").strip(".")
    except ValueError:  # what stands there is no URL
        return ""


def _is_of(url: str, sites: Iterable[str]) -> bool:
    host = host_of(url)
    return any(host == site or host.endswith(f".{site}") for site in sites)


def wanted(
    documents: Iterable[SourceDocument], filters: SearchFilters, limit: int
) -> tuple[SourceDocument, ...]:
    """At most `limit` documents that the filters admit, in their order.

    Where dates are asked for and there is room, those follow that only lack a date. The search
    leaves them out, and can tell how many there were.
    """
    admitted: list[SourceDocument] = []
    undated: list[SourceDocument] = []
    anytime = filters.model_copy(update={"since": None, "until": None})
    for document in documents:
        if filters.admits(document):
            admitted.append(document)
        elif document.published is None and anytime.admits(document):
            undated.append(document)
    return (*admitted, *undated)[: max(0, limit)]
