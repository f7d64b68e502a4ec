"""Assessment of a text without a run: by critics, and of its claims against sources."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.journal import Journal, scope
from sifaka.calls.ledger import Ledger
from sifaka.chain.components import parts_of
from sifaka.chain.configuration import ConfiguredChain
from sifaka.critics.execution import run_critics
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.claims import CheckOptions, ClaimReport, Judgement
from sifaka.record.clustering import cluster
from sifaka.record.entries import Called
from sifaka.record.results import CriticFeedback, Issue, Verdict, majority
from sifaka.record.thought import Document, Thought
from sifaka.record.usage import Usage
from sifaka.text.differences import Difference
from sifaka.text.input import check_text

MOST_CLAIMS = 100
Hear = Callable[[str], Awaitable[None]]
"""Is told what was done, in a line for a person."""
_PLACE = "verify"
"""The journal's place for the calls."""


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
    hear: Hear | None, adapters: Adapters, calls: list[Called] | None
) -> Callable[[Called], Awaitable[None]]:
    """Keeps each answer, and tells of it as it goes into the journal, which is when it is there."""
    done: Counter[str] = Counter()

    async def tell(call: Called) -> None:
        if calls is not None:
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


class Review(Frozen):
    """The critics' feedback on one text."""

    feedback: tuple[CriticFeedback, ...]
    usage: Usage
    rubric: tuple[str, ...] | None = None
    """The questions by which the caller judges the text; None when a model has judged it."""
    differences: tuple[Difference, ...] = ()
    """What was measured of it against its original and the limits of its task."""

    @property
    def verdict(self) -> Verdict | None:
        """The decision of the critics together; None when none of them voted.

        Rules of mechanics can ask for a revision; that they found nothing accepts no meaning.
        """
        verdict = majority(self.feedback)
        return verdict if verdict == "revise" or self.is_judged else None

    @property
    def is_judged(self) -> bool:
        """True when a critic has judged the meaning of the text."""
        return any(f.judges_task and f.status == "ok" for f in self.feedback)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues of all critics that spoke; what several report counts once, with support."""
        return cluster([f.issues for f in self.feedback if f.status == "ok"])

    @property
    def degraded(self) -> tuple[str, ...]:
        """The steps that failed or fell back, one line each."""
        abstained = tuple(
            f"critic {f.critic} abstained: {f.reason}"
            for f in self.feedback
            if f.status == "abstained"
        )
        told = (note for f in self.feedback for note in f.degraded)
        return (*abstained, *told, *self.usage.notes)


class AssessingChain(ConfiguredChain):
    """A chain that judges texts; `Chain` refines them too."""

    async def critique(self, thought: Thought, *, frame_key: str | None = None) -> Review:
        """Ask the chain's critics about a thought; nothing is stored.

        Args:
            thought: The thought.
            frame_key: A secret of the caller, which the marks around quoted material in prompts are
                made with: the same one makes the same questions. A new one when None.
        """
        given = (*thought.pre_generation_context, *thought.post_generation_context)
        parts = await parts_of(self.settings, self.resources, documents=bool(given))
        calls = self._calls(frame_key, Journal())
        async with parts.connected():
            feedback = await run_critics(
                parts.critics, thought, calls, deadline=self.settings.critic_deadline
            )
        return Review(feedback=feedback, usage=calls.ledger.spent)

    async def verify(
        self,
        text: str = "",
        *,
        claims: Sequence[str] | None = None,
        documents: Sequence[Document] = (),
        options: CheckOptions | None = None,
        judgements: Sequence[Judgement] = (),
        frame_key: str | None = None,
        hear: Hear | None = None,
        calls: list[Called] | None = None,
    ) -> ClaimReport:
        """Check the claims of a text, or given ones, against the evidence; nothing is stored.

        Args:
            text: The text to find claims in, where none are given.
            claims: The claims to check; those that stand in `text` verbatim get their place in it.
            documents: Evidence that is at hand. What is searched besides, `options` say.
            options: The filters and limits of the check.
            judgements: The caller's own, of claims that no model is to judge.
            frame_key: As for `critique`.
            hear: Receives a line for a person about each answer.
            calls: The answers that an earlier check has had, which are taken again; further ones
                are added.

        Returns:
            A verdict for each claim; `unverified` where no judge could answer or the budget had no
            room.

        Raises:
            ConfigurationError: There is nothing to check or nothing to search, an adapter is
                unknown, or nothing could fit the options.
        """
        options = options or CheckOptions(checks="double")
        _check(text, claims, documents)
        if claims is not None:  # the caller has chosen them, so each is checked
            options = options.model_copy(update={"max_claims": MOST_CLAIMS})
        parts = await parts_of(self.settings, self.resources, documents=True)
        adapters, checker = self.resources.adapters, parts.checker
        if checker is None:
            from sifaka.evidence.claims import EvidenceChecker

            checker = EvidenceChecker(adapters, parts.asked)
        context = self._calls(frame_key, Journal(calls or (), _telling(hear, adapters, calls)))
        async with replace(parts, checker=checker).connected():
            with context.active(), scope(_PLACE):
                report = await checker.check(
                    text, claims=claims, documents=documents, options=options, judgements=judgements
                )
        usage = context.ledger.spent
        degraded = (*report.degraded, *usage.notes)
        return report.model_copy(update={"usage": usage, "degraded": degraded})

    def _calls(self, frame_key: str | None, journal: Journal) -> Calls:
        return Calls(
            ledger=Ledger(self.settings.budget, Usage()),
            journal=journal,
            breakers=self.resources.breakers,
            monitor=self.resources.monitor,
            frame_key=frame_key or new_frame_key(),
        )
