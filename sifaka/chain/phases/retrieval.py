"""The retrieval phase: models and critics see documents on a version, and know no retrievers."""

from collections.abc import Sequence

import anyio

from sifaka.chain.phases.context import PhaseContext
from sifaka.errors import BudgetExceeded
from sifaka.record.entries import Entry, Retrieved
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka.retrievers.protocol import DOCUMENTS, Retriever, ask


async def retrieve(
    retrievers: Sequence[Retriever], query: str
) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """The documents of all retrievers for a query, in the order of the retrievers.

    Returns:
        The documents, and a line for each retriever that failed: the others go on without it.
    """
    found: list[Document] = []
    degraded: list[str] = []
    for retriever in retrievers:
        documents, lines = await ask(retriever, query, DOCUMENTS)
        found += documents
        degraded += lines
    return tuple(found), tuple(degraded)


async def first_version(run: Run, text: str, retrievers: Sequence[Retriever]) -> Thought:
    """The thought a run begins with: its input, or nothing yet, and documents for its task."""
    first = Thought(prompt=run.prompt, text=text, run_id=run.run_id)
    if not retrievers:
        return first
    documents, degraded = await retrieve(retrievers, run.prompt or text)
    return first.add_pre_generation_context(documents).add_degraded(degraded)


async def opening(context: PhaseContext) -> Thought:
    """The start of a run without a text: its task, and documents for it.

    Raises:
        BudgetExceeded: The time is over.
    """
    with anyio.move_on_after(context.calls.ledger.seconds_left):
        return await first_version(context.recorder.run, "", context.parts.resources.retrievers)
    raise BudgetExceeded("seconds")


async def retrieve_for_critics(context: PhaseContext) -> Sequence[Entry]:
    """Find documents for the versions that are not compared yet.

    Raises:
        BudgetExceeded: The time is over.
    """
    await context.tell("retrieve", "looking for documents for the critics")
    found: list[Retrieved] = []
    with anyio.move_on_after(context.calls.ledger.seconds_left):
        for version in context.recorder.run.drafted:
            documents, degraded = await retrieve(context.parts.resources.retrievers, version.text)
            found.append(Retrieved(thought_id=version.id, documents=documents, degraded=degraded))
        return found
    raise BudgetExceeded("seconds")
