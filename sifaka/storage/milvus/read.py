"""Runs and entries as they are stored."""

from collections.abc import Iterable, Mapping, Sequence

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.rows import RUN_FIELDS, RunRow, chunk_key, digest_of, run_key
from sifaka.storage.timestamps import now_in_microseconds

_SHOWN_AFTER = 2_000_000
"""Microseconds after which a server shows a write to everybody."""


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
    if found is None and known.version and known.revision < now_in_microseconds() - _SHOWN_AFTER:
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


def unexpired() -> str:
    """The condition of a run that has not expired."""
    return f"(expires_at == 0 or expires_at > {now_in_microseconds()})"
