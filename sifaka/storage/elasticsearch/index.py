"""Making versions findable: after an append, and later where that failed."""

import logging
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from sifaka.errors import SifakaError, StorageError
from sifaka.record.run import Run
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.delete import forget
from sifaka.storage.elasticsearch.documents import Action, Documents
from sifaka.storage.elasticsearch.read import read_run
from sifaka.storage.elasticsearch.records import Held, Record, read_record
from sifaka.storage.timestamps import to_microseconds

_EXCERPT_CHARS = 160
_AT_ONCE = 20
_ATTEMPTS = 5
logger = logging.getLogger(__name__)


async def index_versions(documents: Documents, held: Held, run: Run, *, first: int = 0) -> None:
    """Make the versions of a run, from the nth on, findable as they are now, and note so.

    Somebody who appends meanwhile writes the same documents; whoever finds the record changed
    writes them again, so the last one writes the newest.
    """
    for _ in range(_ATTEMPTS):
        actions = version_actions(held.record, run, first)
        await documents.bulk(documents.address.thoughts, actions)
        if await held.replaced(documents, replace(held.record, indexed=True)):
            return
        newer = await read_record(documents, held.record.key)
        if newer is None or newer.record.generation != held.record.generation:
            made_of_it = {"term": {"generation": held.record.generation}}
            await documents.delete_matching(made_of_it, documents.address.thoughts)
            return
        if newer.record.gone:
            await forget(documents, newer)
            return
        held, run, first = newer, await read_run(documents, newer.record), 0


async def index_missing(documents: Documents) -> int:
    """Make some runs findable for which that was put off; about how many are left."""
    hits = await documents.search(
        documents.address.runs,
        {
            "query": {"term": {"indexed": False}},
            "size": _AT_ONCE,
            "_source": False,
            "track_total_hits": True,
        },
    )
    for hit in hits["hits"]:
        held = await read_record(documents, hit["_id"])
        if held is None or held.record.gone or held.record.indexed:
            continue
        try:
            run = await read_run(documents, held.record)
        except SifakaError as error:
            if isinstance(error, StorageError) and error.retryable:
                raise
            logger.warning("run %r cannot be indexed: %s", held.record.run_id, error)
            # Noted as done, or it would be tried for ever.
            await held.replaced(documents, replace(held.record, indexed=True))
            continue
        await index_versions(documents, held, run)
    return hits["total"]["value"] - len(hits["hits"])


def version_actions(record: Record, run: Run, first: int) -> Sequence[Action]:
    """What writes the documents of versions; the vector of one that has some stays."""
    return [
        Action(
            "update",
            {"_id": record.thought_id(number), "retry_on_conflict": 3},
            {"doc": source, "doc_as_upsert": True},
        )
        for number, source in enumerate(_sources(record, run, first), first)
        if source["text"] or source["prompt"]
    ]


def _sources(record: Record, run: Run, first: int) -> list[Json]:
    prompt = plain(run.prompt)
    return [
        {
            "tenant": record.tenant,
            "run_id": record.run_id,
            "key": record.key,
            "generation": record.generation,
            "thought_id": thought.id,
            "created_at": to_microseconds(thought.created_at),
            "passed": record.passed,
            "tags": list(record.tags),
            "text": text,
            "prompt": prompt,
            "excerpt": (text or prompt)[:_EXCERPT_CHARS],
        }
        for thought in run.thoughts[first:]
        for text in [plain(thought.text)]
    ]


def plain(text: str) -> str:
    """A text for the index: in one line, because a line's end would end a highlighted sentence.

    Letters are composed, because `asciifolding` takes no accent off that stands by itself.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())
