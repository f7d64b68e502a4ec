"""Reading one run: whole, from an entry on, or only how large it is."""

from collections.abc import Iterator, Sequence
from typing import cast

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import decode_entries, replay_run
from sifaka.storage.sqlite.connection import Connection, transaction


def load_run(connection: Connection, tenant: str, run_id: str) -> Run:
    """The run, folded from its entries while they are read."""
    with transaction(connection, "DEFERRED"):
        version = _version(connection, tenant, run_id)
        return replay_run(run_id, _payloads(connection, tenant, run_id, 0, version))


def read_entries(connection: Connection, tenant: str, run_id: str, known: int) -> Sequence[Entry]:
    """The entries of the run beyond the first so many; one look-up where there are none."""
    with transaction(connection, "DEFERRED"):
        version = _version(connection, tenant, run_id)
        if version < known:  # it was deleted, and another one has taken its id
            raise ThoughtNotFound(run_id)
        if 0 < version == known:
            return ()
        payloads = _payloads(connection, tenant, run_id, known, version)
        return tuple(decode_entries(run_id, payloads, after=known))


def size_of_run(connection: Connection, tenant: str, run_id: str) -> int:
    """The bytes of its entries as JSON."""
    size = connection.execute(
        "SELECT sum(octet_length(payload)) FROM entries WHERE tenant = ? AND run_id = ?",
        (tenant, run_id),
    ).get
    if size is None:
        raise ThoughtNotFound(run_id)
    return cast("int", size)


def version_and_fence(connection: Connection, tenant: str, run_id: str) -> tuple[int, int] | None:
    """How many entries a run has, and the last number it was claimed under; None without a run."""
    # As numbers whatever is there: a damaged one is then another number than that of the entries.
    row = connection.execute(
        """
        SELECT CAST(version AS INTEGER), CAST(fence AS INTEGER)
        FROM runs WHERE tenant = ? AND run_id = ?
        """,
        (tenant, run_id),
    ).fetchone()
    return cast("tuple[int, int] | None", row)


def _version(connection: Connection, tenant: str, run_id: str) -> int:
    found = version_and_fence(connection, tenant, run_id)
    if found is None:
        raise ThoughtNotFound(run_id)
    return found[0]


def _payloads(
    connection: Connection, tenant: str, run_id: str, after: int, version: int
) -> Iterator[bytes]:
    # As bytes: damaged text is then reported with the entry it is in.
    rows = connection.execute(
        """
        SELECT seq, CAST(payload AS BLOB) FROM entries
        WHERE tenant = ? AND run_id = ? AND seq > ? ORDER BY seq
        """,
        (tenant, run_id, after),
    )
    count = after
    for row in rows:
        seq, payload = cast("tuple[int, bytes]", row)
        count += 1
        if seq != count:
            raise _incomplete(f"entry {count} of run {run_id!r} is missing")
        yield payload
    if count < max(version, 1):
        raise _incomplete(f"entry {count + 1} of run {run_id!r} is missing")
    if count > version:
        raise _incomplete(f"run {run_id!r} has {count} entries, and a note of {version}")


def _incomplete(what: str) -> StorageError:
    return StorageError(what, "restore the file from a backup; other runs are not affected")
