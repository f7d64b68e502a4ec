"""A check whose claims are left to the caller, kept as a run: nothing has to be sent again."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

from pydantic import TypeAdapter

from sifaka.calls.context import new_frame_key
from sifaka.errors import ConfigurationError, StorageError
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
from sifaka.validators.evidence import result_of

_VALIDATOR = "evidence"
_OPTIONS = "check"
"""The key of the version's metadata that holds the options of its check."""
_SAID = "judgements#"
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
        entries = (started, Drafted(thought=thought), *_said(judgements, 0))
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
        answers = [call.response for call in run.calls if call.key.startswith(_SAID)]
        before = [each for answer in answers for each in _AS_JSON.validate_json(answer)]
        verdicts = verdicts_in(first.validation_results[_VALIDATOR].details)
        claims = [verdict.claim for verdict in verdicts]
        said = _said(judgements, len(answers))
        return cls(
            first.text,
            [claim.text for claim in claims],
            first.pre_generation_context,
            CheckOptions.model_validate(first.metadata[_OPTIONS]),
            [*before, *judgements],
            reduce(Run.apply, said, run),
            said,
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
        result = result_of(report, first.text)
        outcome = (
            Validated(
                thought_id=first.id,
                results={_VALIDATOR: result.model_copy(update={"validator": _VALIDATOR})},
                usage=report.usage,
            ),
            Stopped(status="done", stop_reason=reason),
        )
        found = [*calls, *outcome]
        run = reduce(Run.apply, found, self.run)
        try:
            await store.append(run, [*self.entries, *found], expected_version=self.stored)
        except StorageError as error:
            told = f"the check is not stored, so judgements need all of it again: {error.message}"
            return report.model_copy(update={"degraded": (*report.degraded, told)})
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


def _said(judgements: Sequence[Judgement], number: int) -> tuple[Called, ...]:
    """The answer of a caller, as the journal has those of models."""
    if not judgements:
        return ()
    told = _AS_JSON.dump_json(tuple(judgements)).decode()
    return (Called(key=f"{_SAID}{number}", request="", model=CALLER, response=told),)
