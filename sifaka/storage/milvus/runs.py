"""Runs: appended to, taken over, read, listed and forgotten."""

import json
import logging
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sifaka.entries import Entry
from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.run import Run, RunSummary
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.entry_json import encode_entries
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.index import word_rows
from sifaka.storage.milvus.rows import (
    RUN_FIELDS,
    RunRow,
    about,
    chunk_key,
    digest_of,
    drafted,
    entry_rows,
    next_revision,
    now,
    run_key,
    summary_of,
    tenant_key,
    version_key,
)
from sifaka.storage.protocol import RunPage
from sifaka.storage.timestamps import to_microseconds

_log = logging.getLogger(__name__)
_CURSOR_KEY = "cursor-key"
_EXPIRED_AT_ONCE = 64
_SHOWN_AFTER = 2_000_000
"""Microseconds after which a server shows a write to everybody."""


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
        if version != expected:
            end = expected + len(payloads)
            if held and version >= end and read_payloads(milvus, held)[expected:end] == payloads:
                return
            _check(run.run_id, fence, current)
            raise VersionConflict(run.run_id, expected=expected, found=version)
        _check(run.run_id, fence, current)
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
            expires_at=now() + round(ttl * 1_000_000) if ttl else 0,
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
        milvus.shared.note_missing([version_key(key, seq) for seq, _ in versions])


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


def live_row(milvus: MilvusConnection, tenant: str, run_id: str, *, ask: bool = False) -> RunRow:
    """What a run is now.

    Args:
        milvus: The connection.
        tenant: Whose run it is.
        run_id: The run.
        ask: Whether to wait for what other processes have written just now.

    Raises:
        ThoughtNotFound: This tenant has no such run, or not any more.
    """
    row = newest_row(milvus, run_key(tenant, run_id), ask=ask)
    if row is None or not row.alive:
        raise ThoughtNotFound(run_id)
    return row


def newest_row(
    milvus: MilvusConnection, key: str, *, ask: bool = False, creating: bool = False
) -> RunRow | None:
    """What is known about a run, deleted ones included."""
    known = milvus.shared.known(key)
    # To wait takes up to 0.6 s after a write. A run that this process has worked on is known to it,
    # and one that it creates has an id that nobody else uses.
    strong = ask or (known is None and not creating)
    found = rows_of(milvus, [key], strong=strong).get(key)
    if known is None or (found is not None and found.revision >= known.revision):
        return found
    if strong:
        return None if known.version else known
    if found is None and known.version and known.revision < now() - _SHOWN_AFTER:
        return rows_of(milvus, [key], strong=True).get(key)  # somebody else has deleted it
    return known


def rows_of(milvus: MilvusConnection, keys: Sequence[str], *, strong: bool) -> dict[str, RunRow]:
    """The rows of some runs, those that are there."""
    found = milvus.get(milvus.names.runs, keys, RUN_FIELDS, strong=strong)
    return {key: RunRow.of(row) for key, row in found.items()}


def read_payloads(milvus: MilvusConnection, row: RunRow) -> tuple[str, ...]:
    """The entries of a run as JSON.

    Raises:
        StorageError: They are not all there.
    """
    wanted = [(row.key, seq) for seq in range(1, row.version + 1)]
    for strong in (False, True):
        found = read_entries(milvus, wanted, strong=strong)
        payloads = tuple(found.values())
        if len(payloads) == row.version and digest_of("", payloads) == row.digest:
            return payloads
    raise StorageError(
        f"the entries of run {row.run_id!r} are not what was stored",
        "the run is damaged, or changes just now; other runs are not affected",
    )


def read_entries(
    milvus: MilvusConnection, wanted: Iterable[tuple[str, int]], *, strong: bool
) -> Mapping[tuple[str, int], str]:
    """Some entries as JSON, by the key of the run and the place in it; in the same order."""
    first = {chunk_key(key, seq, 0): (key, seq) for key, seq in wanted}
    fields = ("chunks", "payload")
    found = milvus.get(milvus.names.entries, list(first), fields, strong=strong)
    more = [
        chunk_key(*first[name], chunk)
        for name, row in found.items()
        for chunk in range(1, row["chunks"])
    ]
    found |= milvus.get(milvus.names.entries, more, fields, strong=strong)
    whole: dict[tuple[str, int], str] = {}
    for name, (key, seq) in first.items():
        if name in found:
            names = [chunk_key(key, seq, chunk) for chunk in range(found[name]["chunks"])]
            if all(part in found for part in names):
                whole[key, seq] = "".join(found[part]["payload"] for part in names)
    return whole


def list_recent(milvus: MilvusConnection, tenant: str, limit: int, cursor: str | None) -> RunPage:
    """A page of runs, newest first."""
    start = decode_cursor(key := _cursor_key(milvus), tenant, cursor)
    # Milvus does not sort: all of the tenant's runs come, and are sorted here.
    rows = milvus.select(
        milvus.names.runs,
        f'tenant == "{tenant_key(tenant)}" and {unexpired()}',
        ("run_id", "updated_at", "about"),
    )
    placed: list[tuple[Position, str, str]] = sorted(
        ((int(row["updated_at"]), str(row["run_id"])), str(row["pk"]), str(row["about"]))
        for row in rows
    )
    after = [item for item in reversed(placed) if item[0] < start]
    page = after[:limit]
    last = page[-1][0] if page and len(after) > limit else None
    return RunPage(
        runs=tuple(line for _, _, text in page if (line := _line(text)) is not None),
        next_cursor=encode_cursor(key, tenant, last) if last else None,
    )


def delete_run(milvus: MilvusConnection, tenant: str, run_id: str) -> None:
    """Forget a run: its row first, so that it is gone whatever happens next."""
    key = run_key(tenant, run_id)
    with milvus.shared.lock(key):
        row = newest_row(milvus, key, ask=True)
        milvus.remove(milvus.names.runs, [key])
        milvus.shared.remember(
            RunRow(key=key, tenant="", run_id=run_id, revision=next_revision(row))
        )
        purge(milvus, key)


def purge(milvus: MilvusConnection, key: str) -> None:
    """Remove everything that was made of a run but its row."""
    for name in milvus.list_names():
        if name == milvus.names.entries or milvus.names.is_index(name):
            rows = milvus.select(name, f'run == "{key}"', ())
            milvus.remove(name, [str(row["pk"]) for row in rows])


def sweep(milvus: MilvusConnection) -> int:
    """Remove some of the runs that have expired; how many are left."""
    rows = milvus.select(
        milvus.names.runs, f"expires_at > 0 and expires_at <= {now()}", ("tenant",)
    )
    for row in rows[:_EXPIRED_AT_ONCE]:
        key = str(row["pk"])
        with milvus.shared.lock(key):
            newest = newest_row(milvus, key, ask=True)
            if newest is None or not newest.alive:
                milvus.remove(milvus.names.runs, [key])
                milvus.shared.doubt(key)
                purge(milvus, key)
    return max(0, len(rows) - _EXPIRED_AT_ONCE)


def unexpired() -> str:
    """The condition of a run that has not expired."""
    return f"(expires_at == 0 or expires_at > {now()})"


def _line(text: str) -> RunSummary | None:
    try:
        return summary_of({"about": text})
    except (KeyError, ValueError):
        _log.warning("the summary of a run in Milvus cannot be read; it is left out of the list")
        return None


def _cursor_key(milvus: MilvusConnection) -> bytes:
    """What seals the cursors of these collections: kept in a row that is no run."""
    if milvus.shared.cursor_key:
        return milvus.shared.cursor_key
    for _ in range(2):
        rows = milvus.get(milvus.names.runs, [_CURSOR_KEY], ("about",), strong=True)
        if rows:
            key = bytes.fromhex(json.loads(rows[_CURSOR_KEY]["about"])["key"])
            milvus.shared.cursor_key = key
            return key
        made = RunRow(
            key=_CURSOR_KEY,
            tenant="",
            run_id="",
            revision=0,
            about=json.dumps({"key": secrets.token_hex(16)}),
        )
        milvus.put(milvus.names.runs, [made.row()])
    raise StorageError("the key of the cursors cannot be stored", "try again")


def _check(run_id: str, fence: int | None, current: int) -> None:
    if fence is not None and fence < current:
        raise Fenced(run_id, fence=fence, current=current)
