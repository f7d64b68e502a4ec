"""The first entries of a run."""

from collections.abc import Mapping
from contextlib import suppress

import anyio

from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.ledger import Ledger
from sifaka.chain.cancellation import cancel_run
from sifaka.chain.configuration import ConfiguredChain
from sifaka.chain.phases.retrieval import first_version
from sifaka.chain.recall import lessons_of_similar_runs
from sifaka.chain.resources import Resources
from sifaka.chain.settings import ChainSettings
from sifaka.errors import ConfigurationError, SifakaError
from sifaka.models.prompt import PROMPTS_VERSION
from sifaka.record.entries import FORM, Drafted, Started
from sifaka.record.outcome import RESEARCH, findings
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought, new_run_id
from sifaka.record.usage import Usage
from sifaka.validators.preserve import PreserveValidator


def carried(thought: Thought) -> Mapping[str, object]:
    """The metadata that every version made from this one keeps."""
    told = findings(thought)
    return {RESEARCH: told} if told else {}


def inheriting(first: Thought, origin: Run) -> Thought:
    """The input of a run that branches off another one, with what that one had found."""
    best = origin.champion or origin.latest
    if best is None or not findings(best):
        return first
    documents = (*best.pre_generation_context, *first.pre_generation_context)
    metadata = {**first.metadata, **carried(best)}
    return first.with_text(first.text, pre_generation_context=documents, metadata=metadata)


_PARTING_SECONDS = 5.0
"""Seconds in which a run that is given up as it begins may put that on record."""


def check_can_write(settings: ChainSettings, resources: Resources) -> None:
    """Check that a chain can begin without a text.

    Raises:
        ConfigurationError: It only edits, it compares with an original, or an adapter is unknown.
    """
    if settings.inquiry is not None and resources.researcher is None:
        resources.adapters.chosen(settings.inquiry.adapters)
    if settings.model == EDITOR:
        raise ConfigurationError(
            "the editor cannot write a text from a prompt", "give a text, or another model"
        )
    compares = any(isinstance(each, PreserveValidator) for each in settings.validators)
    if compares and settings.inquiry is None:
        raise ConfigurationError(
            "`preserve` compares with an original, and there is none", "give a text"
        )


async def new_run(
    chain: ConfiguredChain,
    prompt: str,
    text: str,
    origin: Run | None = None,
    run_id: str = "",
) -> Run:
    """Store a new run with its input, if there is any.

    Args:
        chain: Under whose configuration it runs.
        prompt: The task in words.
        text: The input.
        origin: The run that it branches off.
        run_id: Its id, which its caller knows; a random one when empty.

    Raises:
        VersionConflict: There is a run with that id.
        StorageError: The store failed.
    """
    remembered: tuple[str, ...] = ()
    if chain.settings.remember:
        remembered = await lessons_of_similar_runs(
            chain.resources.store, prompt or text, runs=chain.settings.remember
        )
    started = Started(
        run_id=run_id or new_run_id(),
        prompt=prompt,
        config=chain.settings.config,
        frame_key=new_frame_key(),
        form=FORM,
        prompts=PROMPTS_VERSION,
        mends=True,
        branch_of=None if origin is None else origin.run_id,
        tags=chain.settings.tags,
        remembered=remembered,
    )
    run = Run.start(started)
    entries: list[Started | Drafted] = [started]
    if text.strip():
        first, spent = Thought(prompt=prompt, text=text, run_id=run.run_id), Usage()
        if chain.settings.retrievers:
            first, spent = await _documented(chain, run, first)
        if origin is not None:
            first = inheriting(first, origin)
        entries.append(Drafted(thought=first, usage=spent))
        run = run.apply(entries[-1])
    try:
        await chain.resources.store.append(run, entries, expected_version=0, fence=0)
    except anyio.get_cancelled_exc_class():
        if not run_id:
            # It may be there already, and its caller does not know of it.
            with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(SifakaError):
                await cancel_run(chain.resources.store, run.run_id)
        raise
    return run


async def _documented(chain: ConfiguredChain, run: Run, first: Thought) -> tuple[Thought, Usage]:
    """The input with the documents for it, as far as there is time to look for some."""
    ledger = Ledger(chain.settings.budget, Usage())
    with Calls(ledger=ledger, monitor=chain.resources.monitor).active():
        with anyio.move_on_after(ledger.seconds_left) as limit:
            first = await first_version(run, first.text, chain.settings.retrievers)
    if limit.cancelled_caught:
        first = first.add_degraded(("retrieval was not done in time",))
    return first, Usage(seconds=ledger.spent.seconds)
