"""Checking the claims of a text against sources.

A check whose claims are left to the caller is kept as a run: nothing has to be sent again.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any, Literal, NamedTuple, Unpack

from pydantic import TypeAdapter

from sifaka._internal.durations import parse_duration
from sifaka.calls.context import Journal, new_frame_key, scope
from sifaka.chain import Chain, TaskOptions
from sifaka.chain.parts import build_parts
from sifaka.errors import ConfigurationError, StorageError
from sifaka.evidence.documents import GIVEN, moment
from sifaka.evidence.sources.collection import NO_ADAPTER, Adapters
from sifaka.models import CALLER
from sifaka.record.claims import CheckOptions, Claim, ClaimReport, Judgement, verdicts_in
from sifaka.record.entries import (
    FORM,
    Called,
    ChainConfig,
    Drafted,
    Entry,
    Started,
    Stopped,
    StopReason,
    Validated,
)
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.text.input import check_text
from sifaka.validators.evidence import result_of

_VALIDATOR = "evidence"
_OPTIONS = "check"
"""The key of the version's metadata that holds the options of its check."""
_JUDGEMENTS = "judgements#"
"""The place in the journal of the caller's answers."""
_AS_JSON = TypeAdapter(tuple[Judgement, ...])


class KeptCheck(NamedTuple):
    """All that a check is made from."""

    text: str
    claims: Sequence[str] | None
    documents: Sequence[Document]
    options: CheckOptions
    judgements: Sequence[Judgement]
    """The caller's, those given before first."""
    run: Run
    entries: tuple[Entry, ...]
    """The last ones of its run, which are not stored."""
    places: Sequence[Claim] = ()
    """The claims with their places in the text, once they are stored."""

    @classmethod
    def begin(
        cls,
        text: str,
        claims: Sequence[str] | None,
        documents: Sequence[Document],
        options: CheckOptions,
        judgements: Sequence[Judgement],
    ) -> "KeptCheck":
        """A new one, of which nothing is stored yet."""
        started = Started(
            config=ChainConfig(model=CALLER, validators=({"type": _VALIDATOR},)),
            frame_key=new_frame_key(),
            form=FORM,
        )
        thought = Thought(
            text=text or "\n".join(claims or ()),
            run_id=started.run_id,
            pre_generation_context=tuple(documents),
            metadata={_OPTIONS: options.model_dump(mode="json")},
        )
        entries = (started, Drafted(thought=thought), *_record_judgements(judgements, 0))
        return cls(text, claims, documents, options, judgements, Run.replay(entries), entries)

    @property
    def stored(self) -> int:
        """The entries of its run that are stored; 0 for one that is new."""
        return self.run.version - len(self.entries)

    @classmethod
    async def load(
        cls, store: ThoughtStore, run_id: str, judgements: Sequence[Judgement]
    ) -> "KeptCheck":
        """One that was kept, with further judgements.

        Raises:
            ConfigurationError: The run is no check of claims.
            ThoughtNotFound: There is no such run.
        """
        run = await store.load(run_id)
        first = run.original
        if first is None or _OPTIONS not in first.metadata:
            raise ConfigurationError(
                f"run {run_id!r} is no check of claims",
                "give the run_id that verify_evidence answered",
            )
        answers = [call.response for call in run.calls if call.key.startswith(_JUDGEMENTS)]
        before = [each for answer in answers for each in _AS_JSON.validate_json(answer)]
        details = first.validation_results[_VALIDATOR].details
        claims = [verdict.claim for verdict in verdicts_in(details)]
        entries = _record_judgements(judgements, len(answers))
        return cls(
            first.text,
            [claim.text for claim in claims],
            first.pre_generation_context,
            CheckOptions.model_validate(first.metadata[_OPTIONS]),
            [*before, *judgements],
            reduce(Run.apply, entries, run),
            entries,
            claims,
        )

    async def keep(
        self, store: ThoughtStore, report: ClaimReport, calls: Iterable[Called]
    ) -> ClaimReport:
        """Store what the check has found; the report names its run, or says why there is none."""
        first = self.run.thoughts[0]
        reason: StopReason = "issues_left" if report.blocking else "rules_met"
        if any(verdict.verdict == "unverified" for verdict in report.verdicts):
            reason = "unchecked"
        result = result_of(report)
        outcome = (
            Validated(
                thought_id=first.id,
                results={_VALIDATOR: result.model_copy(update={"validator": _VALIDATOR})},
                usage=report.usage,
            ),
            Stopped(status="done", stop_reason=reason),
        )
        entries = [*calls, *outcome]
        run = reduce(Run.apply, entries, self.run)
        try:
            await store.append(run, [*self.entries, *entries], expected_version=self.stored)
        except StorageError as error:
            note = f"the check is not stored, so judgements need all of it again: {error.message}"
            return report.model_copy(update={"degraded": (*report.degraded, note)})
        return report.model_copy(update={"run_id": run.run_id})

    def placed(self, report: ClaimReport) -> ClaimReport:
        """The report of one that was kept, with its run, and its claims as they stood first."""
        if not self.stored:
            return report
        verdicts = tuple(
            verdict.model_copy(update={"claim": claim})
            for verdict, claim in zip(report.verdicts, self.places, strict=True)
        )
        return report.model_copy(update={"verdicts": verdicts, "run_id": self.run.run_id})


def _record_judgements(judgements: Sequence[Judgement], number: int) -> tuple[Called, ...]:
    """The answer of a caller, as the journal has those of models."""
    if not judgements:
        return ()
    answer = _AS_JSON.dump_json(tuple(judgements)).decode()
    return (Called(key=f"{_JUDGEMENTS}{number}", request="", model=CALLER, response=answer),)


MOST_CLAIMS = 100
Hear = Callable[[str], Awaitable[None]]
"""Receives what was done, in a line for a person."""
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
        claims: The claims to check; those that are in `text` verbatim get their place in it.
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
    report = check.placed(await _run_check(chain, check, frame_key, hear, calls))
    is_news = bool(judgements) if check.stored else keep and report.is_for_caller
    return await check.keep(chain.store, report, calls[before:]) if is_news else report


async def _run_check(
    chain: Chain, check: KeptCheck, frame_key: str | None, hear: Hear | None, calls: list[Called]
) -> ClaimReport:
    """The report of a check; `calls` are taken again, and further answers are added to them."""
    options = check.options
    if not check_text(check.text).strip() and check.claims is None:
        raise ConfigurationError("there is no text and no claim", "give a text, or claims")
    if check.claims is not None:  # the caller has chosen them, so each is checked
        if not 1 <= len(check.claims) <= MOST_CLAIMS:
            raise ConfigurationError(
                f"there are {len(check.claims)} claims", f"give from 1 to {MOST_CLAIMS} at a time"
            )
        options = options.model_copy(update={"max_claims": MOST_CLAIMS})
    for number, claim in enumerate(check.claims or ()):
        check_text(claim, f"claims[{number}]")
    for number, document in enumerate(check.documents):
        check_text(document.text, f"documents[{number}]")
    parts = await build_parts(chain.config, chain.resources, documents=True)
    adapters, checker = chain.resources.adapters, parts.checker
    if checker is None:
        from sifaka.evidence.claims.checker import EvidenceChecker

        checker = EvidenceChecker(adapters, parts.judge_model)
    context = chain.resources.calls(
        chain.config.budget, frame_key, Journal(tuple(calls), _keep_answers(hear, adapters, calls))
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
    return report.model_copy(update={"usage": usage, "degraded": (*report.degraded, *usage.notes)})


def _keep_answers(
    hear: Hear | None, adapters: Adapters, calls: list[Called]
) -> Callable[[Called], Awaitable[None]]:
    """Keeps each answer, and reports it as it goes into the journal, which is when it is there."""
    done: Counter[str] = Counter()

    async def tell(call: Called) -> None:
        calls.append(call)
        if hear is not None and (what := _describe_answer(call, adapters)):
            done[what] += 1
            await hear(f"{what}: {done[what]}")

    return tell


def _describe_answer(call: Called, adapters: Adapters) -> str | None:
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
        since=_parse_moment("since", since),
        until=_parse_moment("until", until),
        sites=hosts,
        max_documents=max_documents,
        max_claims=max_claims,
        checks=checks,
    )


def _parse_moment(name: str, written: str) -> datetime | None:
    age = parse_duration(written.strip())
    try:
        time = moment(written) if age is None else datetime.now(UTC) - age
    except OverflowError:
        time = None
    if written.strip() and time is None:
        raise ConfigurationError(
            f"{name} {written[:40]!r} is not a date", "write it as 2026-01-31, or 7d"
        )
    return time
