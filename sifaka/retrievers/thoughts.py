"""Past texts as documents for new ones."""

import logging
from collections.abc import Sequence

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, StorageError
from sifaka.record.run import Run
from sifaka.record.thought import Document
from sifaka.retrievers.protocol import DOCUMENTS
from sifaka.storage.log import load_if_there
from sifaka.storage.protocol import ANY, Filters, Hit, ThoughtStore

logger = logging.getLogger(__name__)

_HITS_A_RUN = 4
"""Versions of one run resemble each other: so many are read for each document wanted."""
_TITLE = 80


class ThoughtRetriever:
    """Finds what was written before, from the runs of one tenant.

    Of each run that has a matching version there is one document: its best version. Runs that are
    under way are left out, so a run does not find itself.

    Args:
        store: The store of the runs.
        only: The filter of the runs that are searched.
    """

    def __init__(self, store: ThoughtStore, *, only: Filters = ANY) -> None:
        self.store = store
        self.only = only

    async def retrieve(self, query: str, limit: int = DOCUMENTS) -> Sequence[Document]:
        """The best versions of the runs that match, the best match first.

        Returns:
            Documents with the thought's id, the beginning of its run's task as title, and in
            `metadata` the run's id, whether the text passed, and when it was written.

        Raises:
            SifakaError: The store failed.
        """
        if limit < 1:
            return ()
        try:
            return await self._search_texts(query, limit)
        except StorageError as error:
            # Not as it is: a storage error means that the run at work could not be recorded.
            raise SifakaError(
                f"past texts cannot be searched: {error.message}",
                error.suggestion,
                retryable=error.retryable,
            ) from error

    async def _search_texts(self, query: str, limit: int) -> tuple[Document, ...]:
        hits = (await self.store.search(query, limit=limit * _HITS_A_RUN, only=self.only)).hits
        first: dict[str, Hit] = {}
        for hit in hits:
            first.setdefault(hit.run_id, hit)
        documents: list[Document] = []
        for hit in first.values():
            try:
                run = await load_if_there(self.store, hit.run_id)
            except StorageError as error:
                if error.retryable:
                    raise
                report_failure(logger, "retriever:ThoughtRetriever", error, run_id=hit.run_id)
                continue  # this one cannot be read; the others may
            if run is not None and (document := _make_document(run, hit)) is not None:
                documents.append(document)
            if len(documents) == limit:
                break
        return tuple(documents)


def _make_document(run: Run, hit: Hit) -> Document | None:
    by_id = {thought.id: thought for thought in run.thoughts}
    best = run.champion or by_id.get(hit.thought_id)
    if run.status == "running" or best is None or not best.text.strip():
        return None
    title = " ".join(run.prompt.split())
    return Document(
        id=best.id,
        title=title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…",
        text=best.text,
        score=hit.score,
        metadata={
            "run_id": run.run_id,
            "passed": run.passed,
            "created_at": best.created_at.isoformat(),
        },
    )
