"""Putting documents on thoughts: models and critics see them, and neither knows retrievers."""

from collections.abc import Sequence

from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka.retrievers.guarded import DOCUMENTS, ask
from sifaka.retrievers.protocol import Retriever


async def retrieve(
    retrievers: Sequence[Retriever], query: str
) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """What all retrievers find for a query, in the order of the retrievers.

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
    documents, degraded = await retrieve(retrievers, run.prompt or text)
    return Thought(
        prompt=run.prompt,
        text=text,
        run_id=run.run_id,
        pre_generation_context=documents,
        metadata={"degraded": degraded} if degraded else {},
    )
