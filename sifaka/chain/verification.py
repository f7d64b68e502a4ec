"""Holding claims against evidence outside any run."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.journal import Journal, scope
from sifaka.calls.ledger import Ledger
from sifaka.chain.resources import Parts
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.claims import CheckOptions, ClaimReport
from sifaka.record.entries import Called
from sifaka.record.thought import Document
from sifaka.record.usage import Budget, Usage
from sifaka.text.input import check_text

MOST_CLAIMS = 100
Hear = Callable[[str], Awaitable[None]]
"""Is told what was done, in a line for a person."""
_PLACE = "verify"
"""The journal's place for the calls."""


async def verified(
    parts: Parts,
    adapters: Adapters,
    text: str = "",
    *,
    claims: Sequence[str] | None = None,
    documents: Sequence[Document] = (),
    options: CheckOptions | None = None,
    budget: Budget,
    frame_key: str | None = None,
    hear: Hear | None = None,
) -> ClaimReport:
    """Check the claims of a text, or given ones, against the evidence; see `Chain.verify`.

    Raises:
        ConfigurationError: There is nothing to check or to search, or an argument is wrong.
    """
    options = options or CheckOptions()
    _check(text, claims, documents)
    if claims is not None:  # the caller has chosen them, so each is checked
        options = options.model_copy(update={"max_claims": MOST_CLAIMS})
    checker = parts.checker
    if checker is None:
        from sifaka.evidence.claims import EvidenceChecker

        checker = EvidenceChecker(adapters, parts.asked)
    ledger = Ledger(budget, Usage())
    calls = Calls(
        ledger=ledger,
        journal=Journal(append=_telling(hear, adapters)),
        breakers=parts.breakers,
        monitor=parts.monitor,
        frame_key=frame_key or new_frame_key(),
    )
    async with replace(parts, checker=checker).connected():
        with calls.active(), scope(_PLACE):
            report = await checker.check(text, claims=claims, documents=documents, options=options)
    return report.model_copy(update={"usage": ledger.spent})


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


def _telling(hear: Hear | None, adapters: Adapters) -> Callable[[Called], Awaitable[None]] | None:
    """Tells of each answer as it goes into the journal, which is when it is there."""
    if hear is None:
        return None
    done: Counter[str] = Counter()

    async def tell(call: Called) -> None:
        what = _step(call, adapters)
        if what is not None:
            done[what] += 1
            await hear(f"{what}: {done[what]}")

    return tell


def _step(call: Called, adapters: Adapters) -> str | None:
    """A line about one answer; None for an answer that is not reported."""
    if call.model in adapters.names:
        return f"searches of {call.model}"
    if call.key.startswith(f"{_PLACE}/claims#"):
        return "texts read for claims"
    return "documents judged" if "/document " in call.key else None
