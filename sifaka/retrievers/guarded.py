"""Asking a retriever whose failure must not be the end."""

import logging
from collections.abc import Sequence

from sifaka.calls.context import current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, StorageError
from sifaka.record.thought import Document
from sifaka.retrievers.protocol import Retriever

logger = logging.getLogger(__name__)
DOCUMENTS = 5
"""Asked of a retriever where nothing else is said."""


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
