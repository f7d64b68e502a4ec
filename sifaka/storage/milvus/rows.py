"""Runs and entries as rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted, Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.milvus.client import Row
from sifaka.storage.timestamps import now_in_microseconds, to_microseconds

CHUNK_BYTES = 60_000
"""What a row takes of an entry: a VARCHAR holds 65,535 bytes."""
RUN_FIELDS = (
    "tenant",
    "run_id",
    "revision",
    "version",
    "fence",
    "size",
    "digest",
    "updated_at",
    "expires_at",
    "about",
)
_ABOUT_BYTES = 65_535


def tenant_key(tenant: str) -> str:
    """A tenant's name as 64 hexadecimal digits, which need no quoting in a condition."""
    return sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()


def run_key(tenant: str, run_id: str) -> str:
    """A run of a tenant as 64 hexadecimal digits."""
    return sha256(json.dumps([tenant, run_id]).encode()).hexdigest()


def version_key(key: str, seq: int) -> str:
    """The nth entry of a run in an index."""
    return f"{key}:{seq}"


def chunk_key(key: str, seq: int, chunk: int) -> str:
    """A part of the nth entry of a run."""
    return f"{key}:{seq}:{chunk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """What a run is now."""

    key: str
    tenant: str
    run_id: str
    revision: int
    """Grows with every change, over deletion and a new beginning too."""
    version: int = 0
    """0 for a run that was deleted."""
    fence: int = 0
    size: int = 0
    digest: str = ""
    """SHA-256 over the one before and the entry, so that what is read is known to be all of it."""
    updated_at: int = 0
    expires_at: int = 0
    """Microseconds since 1970; 0 is never."""
    about: str = "{}"
    """The summary, and what searches filter by, as JSON."""

    @classmethod
    def of(cls, row: Row) -> "RunRow":
        """The same as it comes back."""
        return cls(key=row["pk"], **{field: row[field] for field in RUN_FIELDS})

    @property
    def alive(self) -> bool:
        """Whether there is such a run, for those who look now."""
        return self.version > 0 and (not self.expires_at or self.expires_at > now_in_microseconds())

    def row(self) -> Mapping[str, object]:
        """The same as it is written."""
        return {
            "pk": self.key,
            "unused": [0.0, 0.0],
            **{field: getattr(self, field) for field in RUN_FIELDS},
        }


def next_revision(row: RunRow | None) -> int:
    """Higher than the one before, and than that of a row that nobody remembers."""
    return max(now_in_microseconds(), row.revision + 1 if row else 0)


def digest_of(before: str, payloads: Iterable[str]) -> str:
    """The digest after some more entries."""
    digest = before
    for payload in payloads:
        digest = sha256(digest.encode() + payload.encode()).hexdigest()
    return digest


def about(run: Run) -> str:
    """What lists show of a run and searches ask about it.

    Raises:
        StorageError: It has more tags than a row can hold.
    """
    found = {"summary": run.summary().model_dump(mode="json"), "tags": run.tags}
    text = json.dumps({**found, "passed": run.passed}, ensure_ascii=False)
    if len(text.encode()) > _ABOUT_BYTES:
        raise StorageError(f"run {run.run_id!r} has too many tags to be stored", "use fewer")
    return text


def summary_of(about: str) -> RunSummary:
    """The line of a run.

    Raises:
        KeyError: It is not in there.
        ValueError: It cannot be read.
    """
    return RunSummary.model_validate(json.loads(about)["summary"])


def entry_rows(
    tenant: str, key: str, before: int, entries: Sequence[Entry], payloads: Sequence[str]
) -> list[Mapping[str, object]]:
    """The rows of some entries that follow `before` others."""
    rows: list[Mapping[str, object]] = []
    for seq, (entry, payload) in enumerate(zip(entries, payloads, strict=True), before + 1):
        parts = _parts(payload)
        rows += [
            {
                "pk": chunk_key(key, seq, chunk),
                "tenant": tenant,
                "run": key,
                "seq": seq,
                "chunk": chunk,
                "chunks": len(parts),
                "kind": entry.kind,
                "payload": part,
                "unused": [0.0, 0.0],
            }
            for chunk, part in enumerate(parts)
        ]
    return rows


def drafted(before: int, entries: Sequence[Entry]) -> list[tuple[int, Drafted]]:
    """The versions among some entries, with their places."""
    return [
        (seq, entry) for seq, entry in enumerate(entries, before + 1) if isinstance(entry, Drafted)
    ]


def moment(entry: Drafted) -> int:
    """When a version was written."""
    return to_microseconds(entry.thought.created_at)


def _parts(payload: str) -> list[str]:
    data = payload.encode()
    parts: list[str] = []
    begin = 0
    while begin < len(data):
        end = min(begin + CHUNK_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # not in the middle of a character
            end -= 1
        parts.append(data[begin:end].decode())
        begin = end
    return parts
