"""Checking the claims of a text against sources."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, Unpack

from sifaka._internal.durations import parse_duration
from sifaka.chain import Chain, TaskOptions
from sifaka.chain.assessment import Hear
from sifaka.errors import ConfigurationError
from sifaka.evidence.documents import GIVEN, moment
from sifaka.evidence.sources.collection import NO_ADAPTER
from sifaka.record.claims import CheckOptions, ClaimReport, Judgement
from sifaka.record.thought import Document
from sifaka.tasks.kept_check import KeptCheck

MOST_DOCUMENTS = 20
"""Documents that can be asked for, for each claim."""


async def verify(
    text: str = "",
    *,
    claims: Sequence[str] | None = None,
    sources: Iterable[Document | str] = (),
    options: CheckOptions | None = None,
    model: Any = "auto",
    **settings: Unpack[TaskOptions],
) -> ClaimReport:
    """Check the claims of a text, or given claims, against sources; nothing is stored.

    Args:
        text: The text whose claims are found and checked.
        claims: The claims to check instead.
        sources: Documents at hand, or their words. With sources nothing else is searched unless
            `options` says so.
        options: Filters, limits and the adapters to search with.
        model: The model that judges. Without one each claim comes with the nearest passages.
        **settings: Further options of `Chain`, such as `adapters`.

    Returns:
        A verdict for each claim with its evidence.

    Raises:
        ConfigurationError: There is nothing to check or nothing to search, or a setting is wrong.
    """
    documents = tuple(
        Document(text=each, id=f"{GIVEN}-{number}") if isinstance(each, str) else each
        for number, each in enumerate(sources, 1)
    )
    options = CheckOptions(search=not documents, checks="double") if options is None else options
    chain = Chain(model=model, **settings)
    return await check_claims(chain, text, claims=claims, documents=documents, options=options)


async def check_claims(
    chain: Chain,
    text: str = "",
    *,
    claims: Sequence[str] | None = None,
    documents: Sequence[Document] = (),
    options: CheckOptions,
    judgements: Sequence[Judgement] = (),
    frame_key: str | None = None,
    hear: Hear | None = None,
    keep: bool = False,
    run_id: str = "",
) -> ClaimReport:
    """Like `verify`, with the model and the adapters of a chain; see `Chain.verify`.

    With `keep` a check that leaves claims to its caller is stored as a run. With that `run_id` the
    caller's judgements need nothing else: text, claims, documents and options are those on record.

    Raises:
        ConfigurationError: There is nothing to check or nothing to search, or the run is no check.
    """
    if run_id:
        if text or claims or documents:
            raise ConfigurationError(
                "a stored check has its text, claims and sources", "give run_id and judgements"
            )
        check = await KeptCheck.load(chain.store, run_id, judgements)
    else:
        check = KeptCheck.begin(text, claims, documents, options, judgements)
        if (text.strip() or claims) and not documents and not chain.resources.adapters:
            raise ConfigurationError(NO_ADAPTER, "give `sources`, or set SIFAKA_ADAPTERS")
    calls = [*check.run.calls] if check.run else []
    before = len(calls)
    report = await chain.verify(
        check.text,
        claims=check.claims,
        documents=check.documents,
        options=check.options,
        judgements=check.judgements,
        frame_key=frame_key,
        hear=hear,
        calls=calls,
    )
    report = check.placed(report)
    is_news = bool(judgements) if check.run else keep and report.is_for_caller
    return await check.keep(chain.store, report, calls[before:]) if is_news else report


def check_options(
    *,
    adapters: Iterable[str] = (),
    documents: Sequence[Document] = (),
    since: str = "",
    until: str = "",
    sites: Iterable[str] = (),
    max_documents: int = 4,
    max_claims: int = 20,
    checks: Literal["single", "double"] = "double",
) -> CheckOptions:
    """The options of a check, from words that a caller has written.

    Args:
        adapters: Names of the adapters to search with.
        documents: Documents at hand; with some, only the adapters that are named are searched.
        since: A date, or an age such as `7d`.
        until: Likewise.
        sites: Hosts, without a path.
        max_documents: For each claim.
        max_claims: Of a text, those that need evidence most; the others are not checked.
        checks: `double` to ask a model once more about all support.

    Raises:
        ConfigurationError: A date or a host cannot be read.
    """
    named, hosts = tuple(adapters), tuple(site.strip() for site in sites)
    for site in hosts:
        if not site or set(site) & set("/:@?#* \t\n"):
            raise ConfigurationError(
                f"{site[:60]!r} is not a host", "write it as en.wikipedia.org, without a path"
            )
    return CheckOptions(
        adapters=named,
        search=bool(named) or not documents,
        since=_moment("since", since),
        until=_moment("until", until),
        sites=hosts,
        max_documents=max_documents,
        max_claims=max_claims,
        checks=checks,
    )


def _moment(name: str, written: str) -> datetime | None:
    found = _ago(written) or moment(written)
    if written.strip() and found is None:
        raise ConfigurationError(
            f"{name} {written[:40]!r} is not a date", "write it as 2026-01-31, or 7d"
        )
    return found


def _ago(written: str) -> datetime | None:
    age = parse_duration(written.strip())
    try:
        return None if age is None else datetime.now(UTC) - age
    except OverflowError:
        return None
