"""Runs in one SQLite file: the embedded default."""

from sifaka.storage.sqlite.store import SQLiteStorage

__all__ = ["SQLiteStorage"]
