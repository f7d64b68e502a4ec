"""Versions that the caller submits: whether they can be taken in, and what became of them."""

from functools import cached_property

import anyio

from sifaka.chain.cancellation import append_outside, is_interrupted
from sifaka.chain.result import RunResult
from sifaka.errors import ConfigurationError, StaleRevision, VersionConflict
from sifaka.models import CALLER
from sifaka.models.draft_extraction import ExtractedDraft, Source, mended
from sifaka.models.writing import MENDED, PROMPT
from sifaka.record.entries import FORM, Declined, Drafted, Entry, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.text.input import check_text

LONGEST_REASON = 500
"""Characters of a reason."""
_SILENCE = 5.0
"""Seconds without a new entry after which the worker of a run is taken for dead."""
_LOOK_AGAIN = 0.05
"""Seconds between two looks at a run that another process works on."""


class Submission(RunResult):
    """A run after a submission, and the decision on the version that was submitted."""

    accepted: bool
    reason: str
    handed_in: Thought | None = None
    """The version that was submitted; None where the champion was accepted."""

    @cached_property
    def reported(self) -> Thought:
        """The version that was submitted, or the champion that was accepted."""
        return self.handed_in or self.thought

    @classmethod
    def of(cls, run: Run, thought_id: str, warnings: tuple[str, ...] = ()) -> "Submission":
        """The outcome of one submitted version of a run."""
        decision = run.decisions.get(thought_id)
        if decision is None:
            return cls.pending(run, warnings)
        return cls(
            run=run,
            warnings=warnings,
            accepted=decision.accepted,
            reason=decision.reason,
            handed_in=run.thought(thought_id),
        )

    @classmethod
    def taken(cls, run: Run, warnings: tuple[str, ...] = ()) -> "Submission":
        """A text that was accepted as it is."""
        reason = "" if run.champion_id is None else run.declined.get(run.champion_id, "")
        reason = f"the text as it is: {reason}" if reason else "the text as it is"
        return cls(run=run, warnings=warnings, accepted=True, reason=reason)

    @classmethod
    def pending(cls, run: Run, warnings: tuple[str, ...] = ()) -> "Submission":
        """A submission that is taken in and not decided yet."""
        reason = run.error or "it is still being judged; submit it again to hear the outcome"
        return cls(run=run, warnings=warnings, accepted=False, reason=reason)


def check_submission(text: str, *, accept: bool, reason: str | None) -> None:
    """Check what can be checked of a submission before its run is loaded.

    Raises:
        ConfigurationError: There is no text, none is accepted and no reason is given, or a text
            cannot be used.
    """
    if not (check_text(text).strip() or accept or reason):
        raise ConfigurationError(
            "the revision is empty", "submit the complete text, or accept the one there is"
        )
    if reason is not None and len(check_text(reason, "reason")) > LONGEST_REASON:
        raise ConfigurationError(
            f"the reason has {len(reason)} characters", f"at most {LONGEST_REASON}, in a sentence"
        )


def revision(
    run: Run, parent_id: str, text: str, *, accept: bool, reason: str | None
) -> ExtractedDraft | None:
    """The text that revises a version, without what is certainly not of it.

    Returns:
        None when the version is to stay as it is.

    Raises:
        ConfigurationError: The caller accepts the version and submits another text.
    """
    version = next((t for t in run.thoughts if t.id == parent_id), None)
    if version is None:
        return ExtractedDraft(text)
    latest = next((t for t in reversed(run.thoughts) if t.author == CALLER), version)
    if reason and not (text or accept) and latest.parent_id == parent_id and latest.findings.open:
        # A reason alone answers for the version that was handed in.
        return ExtractedDraft(latest.text)
    source = Source(text=version.text, task=version.prompt, instructions=PROMPT.text)
    draft = mended(text, source) if text else ExtractedDraft(version.text)
    stays = draft.text == version.text
    if accept and not stays:
        raise ConfigurationError(
            "`accept` is for the text as it is, and the revision is another text",
            "leave out `accept` or `text`; `reason` answers for what the revision changes",
        )
    # An outline that is handed back is not a report that is accepted.
    decided = accept or reason is not None or run.config.inquiry is None
    return None if stays and decided else draft


async def take_in(
    store: ThoughtStore,
    run: Run,
    parent_id: str,
    text: str,
    mended: tuple[str, ...] = (),
    *,
    declined: str | None = None,
) -> tuple[Run, Thought]:
    """Store a submission as the next version of a run that waits for it.

    A submission that is stored already, by the same caller or by another at the same moment, is not
    stored again.

    Args:
        store: The store of the run.
        run: The run.
        parent_id: The version that was revised.
        text: The revision.
        mended: The parts that were taken off it, in words.
        declined: The reason that answers for what differs in it, and declines what critics still
            report; None answers nothing.

    Returns:
        The run, and the version that was submitted; it is still to be judged unless the run holds a
        decision on it.

    Raises:
        ConfigurationError: The run does not wait for a revision.
        StaleRevision: It waits for a revision of another version.
    """
    while True:
        if earlier := _earlier_submission(run, parent_id, text, declined):
            is_open = earlier.id not in run.decisions
            if is_open and run.status == "cancelled" and not is_interrupted(run):
                raise ConfigurationError(f"run {run.run_id!r} was cancelled", "start a new run")
            return run, earlier
        champion = _waiting_champion(run, parent_id)
        draft = champion.next_iteration(iteration=len(run.thoughts)).with_text(
            text, author=CALLER, history=()
        )
        if mended or MENDED in champion.metadata:
            draft = draft.model_copy(update={"metadata": {**champion.metadata, MENDED: mended}})
        entries: list[Entry] = [Drafted(thought=draft)]
        if declined is not None:
            entries.append(Declined(thought_id=draft.id, reason=declined))
        try:
            return await append_outside(store, run, *entries), draft
        except VersionConflict:  # another caller submitted at the same moment
            run = await settled(store, await store.load(run.run_id))


async def accept(store: ThoughtStore, run: Run, parent_id: str, reason: str) -> Run:
    """End a run that waits for a revision with the version that it has, as its caller wants.

    A version that is accepted already is not accepted again.

    Raises:
        ConfigurationError: The run does not wait for a revision.
        StaleRevision: It waits for a revision of another version.
    """
    while parent_id not in run.declined or run.status != "done":
        champion = _waiting_champion(run, parent_id)
        declined = Declined(thought_id=champion.id, reason=reason)
        try:
            return await append_outside(
                store, run, declined, Stopped(status="done", stop_reason="accepted")
            )
        except VersionConflict:
            run = await settled(store, await store.load(run.run_id))
    return run


def _earlier_submission(run: Run, parent_id: str, text: str, reason: str | None) -> Thought | None:
    """The version of this text and reason that was submitted against this parent before, if any."""
    submission = (CALLER, parent_id, text, reason)
    versions = ((t, (t.author, t.parent_id, t.text, run.declined.get(t.id))) for t in run.thoughts)
    return next((thought for thought, values in versions if values == submission), None)


def _waiting_champion(run: Run, parent_id: str) -> Thought:
    """The version that a submission against `parent_id` revises.

    Raises:
        ConfigurationError: The run does not wait for a revision.
        StaleRevision: It waits for a revision of another version.
    """
    if run.status != "needs_revision":
        raise ConfigurationError(
            f"run {run.run_id!r} does not wait for a revision, it is {run.status}",
            "submit again in a moment" if run.status == "running" else "start a new run",
        )
    champion = run.champion
    assert champion is not None, "a run waits only after its first decision"
    if parent_id != champion.id:
        raise StaleRevision(parent_id, current_id=champion.id)
    return champion


async def end_if_older(store: ThoughtStore, run: Run) -> Run:
    """A run of an older form, which means something else now, ends with its best text."""
    if run.form >= FORM or run.finished:
        return run
    message = "the run is of an older form: it ends with its best text; start a new run to go on"
    return await append_outside(
        store, run, Stopped(status="done", stop_reason="stalled", error=message)
    )


async def settled(store: ThoughtStore, run: Run) -> Run:
    """Wait until no process works on the run: it has stopped, or fallen silent."""
    version, silent = run.version, 0.0
    while run.status == "running" and silent < _SILENCE:
        await anyio.sleep(_LOOK_AGAIN)
        run = await store.load(run.run_id)
        silent = silent + _LOOK_AGAIN if run.version == version else 0.0
        version = run.version
    return run
