"""Appending: entries first, then the record, which is the point of commit.

The record is written with `if_seq_no`, so of several that append to one version one succeeds. What
the others, or a process that died, have written beyond the record's version was never part of the
run. It is written over, after the record was written again as it is: whoever had begun an append
before that fails at the record, so nobody commits entries that are not their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import uniform

import anyio

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted, Entry
from sifaka.record.run import Run
from sifaka.storage.append_rules import check_append
from sifaka.storage.elasticsearch.delete import forget
from sifaka.storage.elasticsearch.documents import Action, Documents
from sifaka.storage.elasticsearch.records import Held, Record, read_record, run_key
from sifaka.storage.timestamps import now_in_microseconds

_ATTEMPTS = 12
_TAKEN = frozenset({409})


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append has written."""

    held: Held
    first: int
    """The first version that cannot be found as it is now."""


async def append_entries(
    documents: Documents,
    tenant: str,
    run: Run,
    entries: Sequence[Entry],
    payloads: Sequence[str],
    expected: int,
    fence: int | None,
) -> Appended | None:
    """Append; None when there was nothing left to do.

    Raises:
        Fenced: Somebody has claimed the run since.
        VersionConflict: The store holds another number of entries.
        StorageError: The server failed.
    """
    seen: list[int | None] = []
    """What lay in the entries' places at the attempt before."""
    for attempt in range(_ATTEMPTS):
        if attempt:
            # Others are at it: let them finish, at different times.
            await anyio.sleep(uniform(0.01, 0.04) * attempt)  # noqa: S311 - no secret
        held = await _present(documents, run_key(tenant, run.run_id))
        record = held.record if held else Record.begun(tenant, run.run_id)
        if record.version != expected and await _has(documents, record, expected, payloads):
            return None
        check_append(
            run.run_id,
            fence=fence,
            current=record.fence,
            expected=expected,
            found=record.version,
        )
        if not payloads:
            return None
        after = record.appended(
            run,
            payloads,
            indexed=record.indexed and _first(record, run, entries) == len(run.thoughts),
            expires_at=_expiry(documents.address.ttl),
        )
        if held is None:
            written = await _create(documents, after, payloads)
        else:
            written, seen = await _continue(documents, held, after, payloads, seen)
        if written is not None:
            return Appended(written, _first(record, run, entries))
    raise StorageError(
        f"run {run.run_id!r} is appended to by too many", "try again in a moment", retryable=True
    )


def _expiry(ttl: timedelta | None) -> int | None:
    return None if ttl is None else now_in_microseconds() + ttl // timedelta(microseconds=1)


async def _present(documents: Documents, key: str) -> Held | None:
    held = await read_record(documents, key)
    if held is not None and held.record.gone:
        await forget(documents, held)
        return await read_record(documents, key)
    return held


async def _create(documents: Documents, record: Record, payloads: Sequence[str]) -> Held | None:
    ids = record.entry_ids(0, len(payloads))
    entries = documents.address.entries
    await documents.bulk(entries, _creations(record, ids, payloads))
    document = await documents.create(documents.address.runs, record.key, record.source())
    if document is not None:
        return Held(record, document)
    found = await read_record(documents, record.key)
    if found is not None and found.record.generation == record.generation:
        return found  # it was this very request, whose first answer was lost
    await documents.bulk(entries, [Action("delete", {"_id": doc_id}) for doc_id in ids])
    return None


async def _continue(
    documents: Documents,
    held: Held,
    after: Record,
    payloads: Sequence[str],
    seen: list[int | None],
) -> tuple[Held | None, list[int | None]]:
    entries = documents.address.entries
    ids = after.entry_ids(held.record.version, after.version)
    creations = _creations(after, ids, payloads)
    statuses = await documents.bulk(entries, creations, tolerated=_TAKEN)
    if any(status in _TAKEN for status in statuses):
        found = await documents.get_many(entries, ids)
        places = [place.seq_no if place else None for place in found]
        if places != seen:
            return None, places  # somebody may be about to commit them: look once more
        again = await held.replaced(documents, held.record)
        if again is None:
            return None, places
        over = [
            Action(
                "index",
                {
                    "_id": doc_id,
                    "if_seq_no": place.seq_no,
                    "if_primary_term": place.primary_term,
                },
                creation.body,
            )
            for doc_id, place, creation in zip(ids, found, creations, strict=True)
            if place is not None
        ]
        statuses = await documents.bulk(entries, over, tolerated=_TAKEN)
        if len(over) < len(ids) or any(status in _TAKEN for status in statuses):
            return None, []
        held = again
    return await held.replaced(documents, after), []


async def _has(
    documents: Documents, record: Record, expected: int, payloads: Sequence[str]
) -> bool:
    end = expected + len(payloads)
    if record.version < end:
        return False
    ids = record.entry_ids(expected, end)
    found = await documents.get_many(documents.address.entries, ids)
    return [place and place.source["payload"] for place in found] == list(payloads)


def _first(before: Record, run: Run, entries: Sequence[Entry]) -> int:
    if not before.indexed or run.passed != before.passed:
        return 0
    return len(run.thoughts) - sum(isinstance(entry, Drafted) for entry in entries)


def _creations(record: Record, ids: Sequence[str], payloads: Sequence[str]) -> list[Action]:
    return [
        Action("create", {"_id": doc_id}, {"generation": record.generation, "payload": payload})
        for doc_id, payload in zip(ids, payloads, strict=True)
    ]
