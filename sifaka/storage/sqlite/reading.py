"""Reading one run: whole, from an entry on, or only how large it is."""

from collections.abc import Iterator, Sequence
from typing import cast

from sifaka.entries import Entry
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.run import Run
from sifaka.storage.entry_json import decode_entries, replay_run
from sifaka.storage.sqlite.connection import Connection, transaction


def load_run(connection: Connection, tenant: str, run_id: str) -> Run:
    """The run, folded from its entries while they are read."""
    with transaction(connection, "DEFERRED"):
        _version(connection, tenant, run_id)
        return replay_run(run_id, _payloads(connection, tenant, run_id, 0))


def read_entries(connection: Connection, tenant: str, run_id: str, known: int) -> Sequence[Entry]:
    """The entries of the run beyond the first so many; one look-up where there are none."""
    with transaction(connection, "DEFERRED"):
        version = _version(connection, tenant, run_id)
        if version < known:  # it was deleted, and another one has taken its id
            raise ThoughtNotFound(run_id)
        if version == known:
            return ()
        payloads = _payloads(connection, tenant, run_id, known)
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


def _version(connection: Connection, tenant: str, run_id: str) -> int:
    row = connection.execute(
        "SELECT version FROM runs WHERE tenant = ? AND run_id = ?", (tenant, run_id)
    ).fetchone()
    if row is None:
        raise ThoughtNotFound(run_id)
    return cast("int", row[0])


def _payloads(connection: Connection, tenant: str, run_id: str, after: int) -> Iterator[bytes]:
    # As bytes: damaged text is then reported with the entry it is in.
    rows = connection.execute(
        """
        SELECT seq, CAST(payload AS BLOB) FROM entries
        WHERE tenant = ? AND run_id = ? AND seq > ? ORDER BY seq
        """,
        (tenant, run_id, after),
    )
    for expected, row in enumerate(rows, after + 1):
        seq, payload = cast("tuple[int, bytes]", row)
        if seq != expected:
            raise StorageError(
                f"entry {expected} of run {run_id!r} is missing",
                "restore the file from a backup; other runs are not affected",
            )
        yield payload
