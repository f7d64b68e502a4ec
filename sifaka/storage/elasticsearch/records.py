"""The document of a run: what is known of it without reading its entries."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from sifaka.record.run import Run
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.documents import Document, Documents
from sifaka.storage.timestamps import now_in_microseconds, to_microseconds

_DELETED = 0
"""The moment of expiry of a run that somebody has deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A run at one version; writing it is what commits an append."""

    tenant: str
    run_id: str
    generation: str
    """Drawn when the run is created: a run of the same id that begins anew shares no document."""
    version: int = 0
    fence: int = 0
    size: int = 0
    updated_at: int = 0
    expires_at: int | None = None
    passed: bool = False
    indexed: bool = True
    """Whether every version can be found as it is now; otherwise that was put off."""
    tags: tuple[str, ...] = ()
    summary: str = ""

    @classmethod
    def begun(cls, tenant: str, run_id: str) -> "Record":
        """A run without entries."""
        return cls(tenant=tenant, run_id=run_id, generation=secrets.token_hex(16))

    @classmethod
    def of_source(cls, source: Json) -> "Record":
        """What a document says."""
        names = (name for name in cls.__dataclass_fields__ if name in source and name != "tags")
        return cls(**{name: source[name] for name in names}, tags=tuple(source["tags"]))

    @property
    def key(self) -> str:
        """The id of its document."""
        return run_key(self.tenant, self.run_id)

    @property
    def gone(self) -> bool:
        """Whether it has outlived its time, or was deleted and its documents are left."""
        return self.expires_at is not None and self.expires_at <= now_in_microseconds()

    def entry_ids(self, after: int, until: int) -> list[str]:
        """The ids of the documents of its entries beyond the first so many."""
        return [f"{self.generation}:{seq}" for seq in range(after + 1, until + 1)]

    def thought_id(self, number: int) -> str:
        """The id of the document by which its nth version is found."""
        return f"{self.generation}:{number}"

    def appended(
        self, run: Run, payloads: Sequence[str], *, indexed: bool, expires_at: int | None
    ) -> "Record":
        """The record after these entries."""
        return replace(
            self,
            version=run.version,
            size=self.size + sum(len(payload.encode()) for payload in payloads),
            updated_at=to_microseconds(run.updated_at),
            expires_at=expires_at,
            passed=run.passed,
            indexed=indexed,
            tags=run.tags,
            summary=run.summary().model_dump_json(),
        )

    def deleted(self) -> "Record":
        """The record of a run that nobody sees any more."""
        return replace(self, expires_at=_DELETED)

    def source(self) -> Json:
        """It as a document."""
        return {
            "tenant": self.tenant,
            "run_id": self.run_id,
            "key": self.key,
            "generation": self.generation,
            "version": self.version,
            "fence": self.fence,
            "size": self.size,
            "updated_at": self.updated_at,
            **({} if self.expires_at is None else {"expires_at": self.expires_at}),
            "passed": self.passed,
            "indexed": self.indexed,
            "tags": list(self.tags),
            "summary": self.summary,
        }


@dataclass(frozen=True, slots=True)
class Held:
    """A record and the document that it was read from."""

    record: Record
    document: Document

    @classmethod
    def of(cls, document: Document) -> "Held":
        """The record that a document holds."""
        return cls(Record.of_source(document.source), document)

    async def replaced(self, documents: Documents, record: Record) -> "Held | None":
        """Write another record in its place; None when somebody has been there first."""
        document = await documents.replace(
            documents.address.runs, self.record.key, self.document, record.source()
        )
        return document and Held(record, document)


async def read_record(documents: Documents, key: str) -> Held | None:
    """The record of a run, whether it is gone or not."""
    document = await documents.get(documents.address.runs, key)
    return document and Held.of(document)


def run_key(tenant: str, run_id: str) -> str:
    """The id of a run's document: any text may be an id, of which a server takes 512 bytes."""
    # Half a surrogate pair is the id of no run, and is looked up like any other.
    return sha256(f"{tenant}\0{run_id}".encode("utf-8", "surrogatepass")).hexdigest()
