"""Claims of a text, and what is known about them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Literal, Protocol, cast

from pydantic import Field, ValidationError

from sifaka._internal.immutable import Frozen
from sifaka.record.thought import Document
from sifaka.record.usage import Usage

ClaimStatus = Literal[
    "supported", "contradicted", "mixed", "in_doubt", "not_enough_info", "unverified"
]
Stance = Literal[
    "supports", "in_doubt", "somewhat_supports", "contradicts", "off_topic", "insufficient",
    "unjudged",
]  # fmt: skip
BLOCKING: frozenset[ClaimStatus] = frozenset({"contradicted", "mixed", "in_doubt"})
"""Claims that must not stay as they are; the others ask for a citation or a hedge."""


class Claim(Frozen):
    """One claim of fact that a text makes."""

    text: str = Field(min_length=1)
    """The claim as a sentence that can be understood without the text."""
    quote: str = ""
    """The words of the text that make it, exactly; empty when it came without a text."""
    start: int | None = None
    """Offset of the quote's first character (Unicode code points); None when it was not found."""
    end: int | None = None
    """Offset after the quote's last character."""
    need: float = Field(default=1.0, ge=0, le=1)
    """Probability that a reader needs evidence for it."""


class ClaimEvidence(Frozen):
    """The statement of one document about a claim."""

    stance: Stance
    """`unjudged` for a document that was only found and ranked."""
    quote: str = ""
    """Words of the document, which were found in it; of an unjudged one its nearest sentence."""
    flag: str = ""
    """What does not agree between the claim and the quote; support with one was confirmed."""
    title: str = ""
    url: str = ""
    document_id: str = ""
    adapter: str = ""
    """The adapter that found it; `given` for documents that came with the text."""
    published: datetime | None = None
    """Time of writing or of the last change; None when the document does not say."""
    retrieved_at: datetime | None = None
    score: float | None = None
    """Relevance to the claim; comparable among the documents of one claim only."""


class ClaimVerdict(Frozen):
    """The verdict of the evidence on one claim."""

    claim: Claim
    verdict: ClaimStatus
    evidence: tuple[ClaimEvidence, ...] = ()
    """The documents that were looked at, those that decide first."""
    reason: str = ""
    """The reason why it is not decided, in one line; empty when it is."""
    checked_at: datetime = Field(default_factory=partial(datetime.now, UTC))
    reused: bool = False
    """True when an earlier verdict on the same claim from the same sources was used again."""
    basis: str = ""
    """A digest of what it was judged by: the sources, the filters, the documents given and the
    model. It may be taken again on the same basis only; empty where it may not at all."""

    @property
    def blocks(self) -> bool:
        """True when the claim must not stay as it is."""
        return self.verdict in BLOCKING


class Judgement(Frozen):
    """The verdict of a caller that judges a claim itself, by the words of a source."""

    claim: str = Field(min_length=1, coerce_numbers_to_str=True)
    """The claim, or its number in an earlier answer, from 1."""
    verdict: Literal["supported", "contradicted", "not_enough_info"]
    quote: str = ""
    """Words of a source, exactly; `not_enough_info` needs none."""
    confirmed: bool = False
    """True when a doubt was shown, and the passage does say the claim."""


class ClaimReport(Frozen):
    """The claims of one text, each with its verdict."""

    verdicts: tuple[ClaimVerdict, ...] = ()
    """In the order of the claims."""
    degraded: tuple[str, ...] = ()
    """Parts of the check that failed, one line each."""
    usage: Usage = Field(default_factory=Usage)
    run_id: str = ""
    """The run that keeps it for the caller's judgements; empty where nothing is stored."""

    @property
    def blocking(self) -> tuple[ClaimVerdict, ...]:
        """The verdicts on claims that must not stay as they are."""
        return tuple(verdict for verdict in self.verdicts if verdict.blocks)

    @property
    def is_for_caller(self) -> bool:
        """True when documents were found for a claim that nobody has judged."""
        return any(
            each.verdict == "unverified" and any(e.stance == "unjudged" for e in each.evidence)
            for each in self.verdicts
        )


class CheckOptions(Frozen):
    """Options of a check of claims."""

    adapters: tuple[str, ...] = ()
    """The names of those to search with; empty means all that are configured."""
    search: bool = True
    """True to search; False to compare claims with the given documents only."""
    max_claims: int = Field(default=20, ge=1, le=100)
    """Of more, those that need evidence most; the others are reported as unchecked."""
    max_documents: int = Field(default=4, ge=1, le=20)
    """Documents looked at for each claim."""
    max_age_seconds: float = Field(default=86_400.0, ge=0, allow_inf_nan=False)
    """Seconds for which a verdict on the same claim from the same sources is used again."""
    checks: Literal["single", "double"] = "single"
    """`double` to ask once more, blind, about all support; `single` where figures disagree only."""
    since: datetime | None = None
    """Documents written or changed at this moment or later."""
    until: datetime | None = None
    """Documents written or changed before this moment."""
    sites: tuple[str, ...] = ()
    """Hosts, such as `en.wikipedia.org`, their subdomains included; empty means any."""

    @property
    def options(self) -> "CheckOptions":
        """These alone, of a validator or critic that has others besides."""
        return CheckOptions(**{name: getattr(self, name) for name in CheckOptions.model_fields})


class ClaimChecker(Protocol):
    """Holds claims against evidence."""

    async def check(
        self,
        text: str = "",
        *,
        claims: Sequence[str] | None = None,
        documents: Sequence[Document] = (),
        options: CheckOptions | None = None,
        judgements: Sequence[Judgement] = (),
    ) -> ClaimReport:
        """Check the claims of a text, or given claims, against evidence.

        Args:
            text: Whose claims to extract, where none are given.
            claims: What to check; offsets are filled in for those that are in `text` verbatim.
            documents: Evidence that is at hand besides what is found.
            options: How to go about it.
            judgements: Of claims that the caller judges; no model is asked about these.

        Returns:
            A verdict for each claim. What could not be asked, found or paid for is a verdict
            `unverified` or `not_enough_info` and a line in `degraded`, never a `contradicted`.

        Raises:
            ConfigurationError: An adapter is unknown, or there is nothing to search at all.
            StorageError: An answer could not be put on record.
        """
        ...


def verdicts_in(details: Mapping[str, object]) -> tuple[ClaimVerdict, ...]:
    """The verdicts that the `details` of a validator or a critic hold; what is none is left out."""
    claims = details.get("claims")
    verdicts: list[ClaimVerdict] = []
    for each in cast("Sequence[object]", claims) if isinstance(claims, list | tuple) else ():
        try:
            verdicts.append(ClaimVerdict.model_validate(each))
        except ValidationError:  # a critic of another kind keeps claims of its own
            continue
    return tuple(verdicts)
