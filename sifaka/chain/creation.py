"""The first entries of a run, with the documents for its task."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import anyio

from sifaka.chain.cancellation import cancel_run
from sifaka.chain.configuration import Resources
from sifaka.errors import ConfigurationError, SifakaError
from sifaka.record.entries import ChainConfig, Drafted, Started
from sifaka.record.outcome import RESEARCH, research_details
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Document, Thought
from sifaka.record.usage import Usage
from sifaka.retrievers.protocol import DOCUMENTS, Retriever, ask
from sifaka.validators.preserve import PreserveValidator


def carried(thought: Thought) -> Mapping[str, object]:
    """The metadata that every version made from this one keeps."""
    details = research_details(thought)
    return {RESEARCH: details} if details else {}


_PARTING_SECONDS = 5.0
"""Seconds in which a run that is given up as it begins may put that on record."""


def check_can_write(config: ChainConfig, resources: Resources) -> None:
    """Check that a chain can begin without a text.

    Raises:
        ConfigurationError: It only edits, it compares with an original, or an adapter is unknown.
    """
    if config.inquiry is not None and resources.researcher is None:
        resources.adapters.chosen(config.inquiry.adapters)
    if config.model == EDITOR:
        raise ConfigurationError(
            "the editor cannot write a text from a prompt", "give a text, or another model"
        )
    compares = any(isinstance(each, PreserveValidator) for each in resources.validators)
    if compares and config.inquiry is None:
        raise ConfigurationError(
            "`preserve` compares with an original, and there is none", "give a text"
        )


async def new_run(
    resources: Resources,
    started: Started,
    text: str,
    *,
    origin: Run | None = None,
    is_known: bool = False,
) -> Run:
    """Store a new run with its input, if there is any.

    Args:
        resources: Those of its chain.
        started: Its first entry.
        text: The input.
        origin: The run that it branches off.
        is_known: True when its caller knows its id, and finds it again.

    Raises:
        VersionConflict: There is a run with that id.
        StorageError: The store failed.
    """
    run = Run.start(started)
    entries: list[Started | Drafted] = [started]
    if text.strip():
        first, spent = Thought(prompt=run.prompt, text=text, run_id=run.run_id), Usage()
        best = None if origin is None else origin.champion or origin.latest
        if best is not None and (research := carried(best)):
            first = first.with_metadata(research)
            first = first.add_pre_generation_context(best.pre_generation_context)
        if resources.retrievers:
            calls = resources.calls(run.config.budget)
            with calls.active(), anyio.move_on_after(calls.ledger.seconds_left) as limit:
                first = await with_documents(first, resources.retrievers)
            if limit.cancelled_caught:
                first = first.add_degraded(("retrieval was not done in time",))
            spent = Usage(seconds=calls.ledger.spent.seconds)
        entries.append(Drafted(thought=first, usage=spent))
        run = run.apply(entries[-1])
    try:
        await resources.store.append(run, entries, expected_version=0, fence=0)
    except anyio.get_cancelled_exc_class():
        if not is_known:
            # It may be there already, and its caller does not know of it.
            with anyio.move_on_after(_PARTING_SECONDS, shield=True), suppress(SifakaError):
                await cancel_run(resources.store, run.run_id)
        raise
    return run


async def retrieve(
    retrievers: Sequence[Retriever], query: str
) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """The documents of all retrievers for a query, in the order of the retrievers.

    Returns:
        The documents, and a line for each retriever that failed: the others go on without it.
    """
    answers = [await ask(retriever, query, DOCUMENTS) for retriever in retrievers]
    found = tuple(document for documents, _ in answers for document in documents)
    return found, tuple(line for _, lines in answers for line in lines)


async def with_documents(first: Thought, retrievers: Sequence[Retriever]) -> Thought:
    """The first version of a run, which may have no text yet, with documents for its task."""
    documents, degraded = await retrieve(retrievers, first.prompt or first.text)
    return first.add_pre_generation_context(documents).add_degraded(degraded)
