"""A SQLite file with an embedder, whose versions are embedded as soon as they are stored."""

from collections.abc import Sequence
from pathlib import Path

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.sqlite import SQLiteStorage
from tests.storage_contract.kinds import sqlite
from tests.stubs.embedders import ConceptEmbedder


class _Eager(SQLiteStorage):
    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        while await self.catch_up():
            pass

    def scoped(self, tenant: str) -> SQLiteStorage:
        return _Eager(self.path, tenant=tenant, embedder=self._embedder, worker=self._worker)


def make(folder: Path) -> SQLiteStorage:
    return _Eager(folder / "runs.db", embedder=ConceptEmbedder())


damage = sqlite.damage
