"""A SQLite file with an embedder, whose versions are embedded as soon as they are put."""

from pathlib import Path

from sifaka.storage.sqlite import SQLiteStorage
from tests.storage_contract.indexes.of_log import IndexOfLog
from tests.stubs.embedders import ConceptEmbedder


def make(folder: Path) -> IndexOfLog:
    return IndexOfLog(SQLiteStorage(folder / "runs.db", embedder=ConceptEmbedder()))
