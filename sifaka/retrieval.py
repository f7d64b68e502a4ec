"""Putting documents on thoughts: models and critics see them, and neither knows retrievers."""

import logging
from collections.abc import Sequence

from sifaka.calls import current_calls
from sifaka.errors import SifakaError, StorageError
from sifaka.reporting import report_failure
from sifaka.retrievers.protocol import Retriever
from sifaka.run import Run
from sifaka.thought import Document, Thought

logger = logging.getLogger(__name__)

_DOCUMENTS = 5
"""Asked of each retriever."""


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
        name = type(retriever).__name__
        try:
            with current_calls().monitor.measure("retriever", name):
                found += await retriever.retrieve(query, _DOCUMENTS)
        except StorageError:
            raise  # an answer of a model could not be put on record
        # A retriever may be anybody's code: a run without its documents is better than none.
        except Exception as error:  # noqa: BLE001 - reported just below
            report_failure(logger, f"retriever:{name}", error)
            reason = str(error) if isinstance(error, SifakaError) else type(error).__name__
            degraded.append(f"retriever {name} failed: {reason}")
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
