"""The language of searches: words, and filters among them such as `tag:legal` and `since:7d`."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from sifaka.errors import ConfigurationError
from sifaka.storage.protocol import Filters

_FILTER = re.compile(r"(?<!\S)(?P<key>tag|passed|since|until):(?P<value>\S*)")
_AGO = re.compile(r"(?P<count>[0-9]{1,5})(?P<unit>[mhdw])")
_UNITS: Mapping[str, timedelta] = MappingProxyType(
    {
        "m": timedelta(minutes=1),
        "h": timedelta(hours=1),
        "d": timedelta(days=1),
        "w": timedelta(weeks=1),
    }
)
_TRUTHS: Mapping[str, bool] = MappingProxyType(
    {"true": True, "yes": True, "false": False, "no": False}
)


def parse_query(query: str, *, now: datetime | None = None) -> tuple[str, Filters]:
    """The words of a search and its filters.

    `tag:NAME` (several must all be there), `passed:true` or `passed:false`, `since:` and `until:`
    with a date, a moment in ISO 8601, or how long ago it was (`30m`, `12h`, `7d`, `2w`); moments
    without a zone are UTC. Anything else is a word.

    Args:
        query: What somebody typed.
        now: The moment that `7d` is counted from.

    Raises:
        ConfigurationError: A filter has a value that it does not know, or there are no words.
    """
    moment = now or datetime.now(UTC)
    found: dict[str, object] = {}
    tags: list[str] = []
    for match in _FILTER.finditer(query):
        key, value = match["key"], match["value"]
        if key == "tag":
            if not value:
                raise _wrong(match, "a tag")
            tags.append(value)
        else:
            found[key] = _READERS[key](match, moment)
    words = " ".join(_FILTER.sub(" ", query).split())
    if not words:
        raise ConfigurationError(
            "the query has no words to search for", "add words; without a query, runs are listed"
        )
    return words, Filters.model_validate({**found, "tags": tuple(tags)})


def _truth(match: re.Match[str], _: datetime) -> bool:
    truth = _TRUTHS.get(match["value"].lower())
    if truth is None:
        raise _wrong(match, "true or false")
    return truth


def _moment(match: re.Match[str], now: datetime) -> datetime:
    ago = _AGO.fullmatch(match["value"])
    try:
        if ago:
            return now - int(ago["count"]) * _UNITS[ago["unit"]]
        moment = datetime.fromisoformat(match["value"])
        # Seen from here, so that a moment at the edge of time is refused now and not in a store.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _wrong(match, "a date such as 2026-01-31, or 30m, 12h, 7d, 2w ago") from error


def _wrong(match: re.Match[str], allowed: str) -> ConfigurationError:
    return ConfigurationError(f"{match.group()[:60]!r} in the query", f"allowed: {allowed}")


_READERS: Mapping[str, Callable[[re.Match[str], datetime], object]] = MappingProxyType(
    {"passed": _truth, "since": _moment, "until": _moment}
)
