"""Putting documents on thoughts: models and critics see them, and neither knows retrievers."""

from collections.abc import Sequence

from sifaka.retrievers.protocol import Retriever
from sifaka.run import Run
from sifaka.thought import Document, Thought

_DOCUMENTS = 5
"""Asked of each retriever."""


async def retrieve(retrievers: Sequence[Retriever], query: str) -> tuple[Document, ...]:
    """What all retrievers find for a query, in the order of the retrievers."""
    found = [await retriever.retrieve(query, _DOCUMENTS) for retriever in retrievers]
    return tuple(document for documents in found for document in documents)


async def first_version(run: Run, text: str, retrievers: Sequence[Retriever]) -> Thought:
    """The thought a run begins with: its input, or nothing yet, and documents for its task."""
    return Thought(
        prompt=run.prompt,
        text=text,
        run_id=run.run_id,
        pre_generation_context=await retrieve(retrievers, run.prompt or text),
    )
