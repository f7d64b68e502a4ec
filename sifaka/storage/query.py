"""The language of searches: words, and filters among them such as `tag:legal` and `since:7d`."""

import re
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from sifaka._internal.durations import parse_duration
from sifaka.errors import ConfigurationError
from sifaka.record.entries import TAG, Tag
from sifaka.storage.protocol import Filters

_FILTER = re.compile(r"(?<!\S)(?P<key>tag|passed|since|until):(?P<value>\S*)")
_TAG: TypeAdapter[str] = TypeAdapter(Tag)
_TRUTH = TypeAdapter(bool)
T = TypeVar("T")


def parse_query(query: str, *, now: datetime | None = None) -> tuple[str, Filters]:
    """The words of a search and its filters.

    `tag:NAME` (several must all be there), `passed:true` or `passed:false`, `since:` and `until:`
    with a date, a moment in ISO 8601, or how long ago it was (`30m`, `12h`, `7d`, `2w`); `until:` a
    date has all of that day, and moments without a zone are UTC. Anything else is a word; there may
    be none.

    Args:
        query: The search as it was typed.
        now: The moment that `7d` is counted from.

    Raises:
        ConfigurationError: A filter has a value that it does not know, one that can be there once
            is there twice, or there is nothing.
    """
    moment = now or datetime.now(UTC)
    filters: dict[str, object] = {}
    tags: list[str] = []
    for match in _FILTER.finditer(query):
        key = match["key"]
        if key == "tag":
            tags.append(_validate(_TAG, TAG, match))
        elif key in filters:
            raise _filter_error(match, f"{key}: once")
        else:
            is_truth = key == "passed"
            filters[key] = (
                _validate(_TRUTH, "true or false", match) if is_truth else _read_time(match, moment)
            )
    words = " ".join(_FILTER.sub(" ", query).split())
    if not (words or filters or tags):
        raise ConfigurationError(
            "the query has neither words nor filters", "add some; without a query, runs are listed"
        )
    return words, Filters.model_validate({**filters, "tags": tuple(tags)})


def _validate(kind: TypeAdapter[T], allowed: str, match: re.Match[str]) -> T:
    try:
        return kind.validate_python(match["value"])
    except ValidationError as error:
        raise _filter_error(match, allowed) from error


def _read_time(match: re.Match[str], now: datetime) -> datetime:
    ago = parse_duration(match["value"])
    try:
        if ago is not None:
            return now - ago
        moment = datetime.fromisoformat(match["value"])
        if match["key"] == "until" and len(match["value"]) == len("2026-01-31"):
            moment += timedelta(days=1)
        # Seen from here, so that a moment at the edge of time is refused now and not in a store.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _filter_error(match, "a date such as 2026-01-31, or 30m, 12h, 7d, 2w ago") from error


def _filter_error(match: re.Match[str], allowed: str) -> ConfigurationError:
    return ConfigurationError(f"{match.group()[:60]!r} in the query", f"allowed: {allowed}")
