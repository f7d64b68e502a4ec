"""Checking the claims of a text against sources."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, Unpack

from sifaka._internal.durations import parse_duration
from sifaka.calls.journal import Journal, scope
from sifaka.chain import Chain, TaskOptions
from sifaka.chain.parts import build_parts
from sifaka.errors import ConfigurationError
from sifaka.evidence.documents import GIVEN, moment
from sifaka.evidence.sources.collection import NO_ADAPTER, Adapters
from sifaka.record.claims import CheckOptions, ClaimReport, Judgement
from sifaka.record.entries import Called
from sifaka.record.thought import Document
from sifaka.tasks.claim_check_run import KeptCheck
from sifaka.text.input import check_text

MOST_CLAIMS = 100
Hear = Callable[[str], Awaitable[None]]
"""Is told what was done, in a line for a person."""
_PLACE = "verify"
"""The journal's place for the calls."""
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
    """Like `verify`, with the model, the adapters and the budget of a chain.

    With `keep` a check that leaves claims to its caller is stored as a run. With that `run_id` the
    caller's judgements need nothing else: text, claims, documents and options are those on record.

    Args:
        chain: The chain.
        text: The text to find claims in, where none are given.
        claims: The claims to check; those that stand in `text` verbatim get their place in it.
        documents: Evidence that is at hand. What is searched besides, `options` say.
        options: The filters and limits of the check.
        judgements: The caller's own, of claims that no model is to judge.
        frame_key: A secret of the caller, which the marks around quoted material in prompts are
            made with: the same one makes the same questions. A new one when None.
        hear: Receives a line for a person about each answer.
        keep: True to store a check that leaves claims to its caller.
        run_id: The stored check to go on with.

    Returns:
        A verdict for each claim; `unverified` where no judge could answer or the budget had no
        room.

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
    calls = [*check.run.calls]
    before = len(calls)
    report = check.placed(await _checked(chain, check, frame_key, hear, calls))
    is_news = bool(judgements) if check.stored else keep and report.is_for_caller
    return await check.keep(chain.store, report, calls[before:]) if is_news else report


async def _checked(
    chain: Chain, check: KeptCheck, frame_key: str | None, hear: Hear | None, calls: list[Called]
) -> ClaimReport:
    """The report of a check; `calls` are taken again, and further answers are added to them."""
    options = check.options
    _check(check.text, check.claims, check.documents)
    if check.claims is not None:  # the caller has chosen them, so each is checked
        options = options.model_copy(update={"max_claims": MOST_CLAIMS})
    parts = await build_parts(chain.config, chain.resources, documents=True)
    adapters, checker = chain.resources.adapters, parts.checker
    if checker is None:
        from sifaka.evidence.claims import EvidenceChecker

        checker = EvidenceChecker(adapters, parts.judge_model)
    context = chain.resources.calls(
        chain.config.budget, frame_key, Journal(tuple(calls), _telling(hear, adapters, calls))
    )
    async with replace(parts, checker=checker).connected():
        with context.active(), scope(_PLACE):
            report = await checker.check(
                check.text,
                claims=check.claims,
                documents=check.documents,
                options=options,
                judgements=check.judgements,
            )
    usage = context.ledger.spent
    degraded = (*report.degraded, *usage.notes)
    return report.model_copy(update={"usage": usage, "degraded": degraded})


def _check(text: str, claims: Sequence[str] | None, documents: Sequence[Document]) -> None:
    if not check_text(text).strip() and claims is None:
        raise ConfigurationError("there is no text and no claim", "give a text, or claims")
    if claims is not None and not 1 <= len(claims) <= MOST_CLAIMS:
        raise ConfigurationError(
            f"there are {len(claims)} claims", f"give from 1 to {MOST_CLAIMS} at a time"
        )
    for number, claim in enumerate(claims or ()):
        check_text(claim, f"claims[{number}]")
    for number, document in enumerate(documents):
        check_text(document.text, f"documents[{number}]")


def _telling(
    hear: Hear | None, adapters: Adapters, calls: list[Called]
) -> Callable[[Called], Awaitable[None]]:
    """Keeps each answer, and tells of it as it goes into the journal, which is when it is there."""
    done: Counter[str] = Counter()

    async def tell(call: Called) -> None:
        calls.append(call)
        what = None if hear is None else _step(call, adapters)
        if hear is not None and what is not None:
            done[what] += 1
            await hear(f"{what}: {done[what]}")

    return tell


def _step(call: Called, adapters: Adapters) -> str | None:
    """A line about one answer; None for an answer that is not reported."""
    if call.model in adapters.names:
        return f"searches of {call.model}"
    if call.key.startswith(f"{_PLACE}/claims#"):
        return "texts read for claims"
    if "/second " in call.key:
        return "documents read again"
    return "documents judged" if "/documents " in call.key else None


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
