"""The protocol of retrievers, and queries to one of them."""

import logging
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sifaka.calls.context import current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, StorageError
from sifaka.record.thought import Document, Thought


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for a query."""

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """At most `limit` documents, best first."""
        ...


logger = logging.getLogger(__name__)
DOCUMENTS = 5
"""Requested from a retriever by default."""


async def ask(
    retriever: Retriever, query: str, limit: int
) -> tuple[Sequence[Document], tuple[str, ...]]:
    """The documents of a retriever, or none and a line with the reason.

    Raises:
        StorageError: An answer of a model could not be put on record.
    """
    name = type(retriever).__name__
    try:
        with current_calls().monitor.measure("retriever", name):
            return await retriever.retrieve(query, limit), ()
    except StorageError:
        raise
    # A retriever may be foreign code: a text without its documents is better than none.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, f"retriever:{name}", error, source=retriever)
        if isinstance(error, SifakaError):
            return (), (f"retriever {name} failed: {error}",)
        return (), (f"retriever {name} crashed with {type(error).__name__}",)


async def retrieve_for_thought(
    retriever: Retriever,
    thought: Thought,
    *,
    is_pre_generation: bool = True,
    limit: int = DOCUMENTS,
) -> Thought:
    """The thought with documents for its writer, or for its critics.

    Before generation the task is looked for, and the documents join `pre_generation_context`; where
    there is no task it is the text. After generation the text is looked for, and they join
    `post_generation_context`.

    Args:
        retriever: Any retriever.
        thought: Stays as it is.
        is_pre_generation: True when they are for the writer of the text, not for its critics.
        limit: The most documents.

    Raises:
        Exception: The retriever's error.
    """
    if is_pre_generation:
        documents = await retriever.retrieve(thought.prompt or thought.text, limit)
        return thought.add_pre_generation_context(documents)
    return thought.add_post_generation_context(await retriever.retrieve(thought.text, limit))
