"""Runs: appended to and taken over."""

from collections.abc import Sequence
from dataclasses import replace

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.append_rules import check_append, holds
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.index import note_versions, word_rows
from sifaka.storage.milvus.read import live_row, newest_row, read_payloads
from sifaka.storage.milvus.rows import (
    RunRow,
    about,
    digest_of,
    drafted,
    entry_rows,
    next_revision,
    run_key,
    tenant_key,
    version_key,
)
from sifaka.storage.timestamps import now_in_microseconds, to_microseconds


def append_entries(
    milvus: MilvusConnection,
    tenant: str,
    run: Run,
    entries: Sequence[Entry],
    expected: int,
    fence: int | None,
    ttl: float | None,
) -> None:
    """Add entries, all or none: they count once the row of the run is written, last of all."""
    payloads = encode_entries(run, entries, expected)
    key = run_key(tenant, run.run_id)
    with milvus.shared.lock(key):
        row = newest_row(milvus, key, creating=expected == 0)
        held = row if row and row.alive else None
        version, current = (held.version, held.fence) if held else (0, 0)
        # Entries are read only where these can be among them.
        ahead = version != expected and version >= expected + len(payloads)
        if held and ahead and holds(read_payloads(milvus, held), payloads, after=expected):
            return
        check_append(run.run_id, fence=fence, current=current, expected=expected, found=version)
        if not payloads:
            return
        after = RunRow(
            key=key,
            tenant=tenant_key(tenant),
            run_id=run.run_id,
            revision=next_revision(row),
            version=run.version,
            fence=current,
            size=(held.size if held else 0) + sum(len(text.encode()) for text in payloads),
            digest=digest_of(held.digest if held else "", payloads),
            updated_at=to_microseconds(run.updated_at),
            expires_at=now_in_microseconds() + round(ttl * 1_000_000) if ttl else 0,
            about=about(run),
        )
        versions = drafted(expected, entries)
        milvus.shared.doubt(key)
        # Under the keys that they will have whoever writes them: a repeat, or another append after
        # one that failed here, replaces what is left of it.
        rows = entry_rows(after.tenant, key, expected, entries, payloads)
        milvus.put(milvus.names.entries, rows)
        if milvus.full_text and versions:
            milvus.put(milvus.names.words, word_rows(after.tenant, key, run.prompt, versions))
        milvus.put(milvus.names.runs, [after.row()])
        milvus.shared.remember(after)
        note_versions(milvus, after.tenant, [version_key(key, seq) for seq, _ in versions])


def claim_run(milvus: MilvusConnection, tenant: str, run_id: str) -> int:
    """Give out the next number of a run."""
    key = run_key(tenant, run_id)
    with milvus.shared.lock(key):
        row = live_row(milvus, tenant, run_id, ask=True)
        claimed = replace(row, fence=row.fence + 1, revision=next_revision(row))
        milvus.shared.doubt(key)
        milvus.put(milvus.names.runs, [claimed.row()])
        milvus.shared.remember(claimed)
        return claimed.fence
