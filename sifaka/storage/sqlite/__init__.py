"""Runs in one SQLite file, and their index in it."""

from sifaka.storage.sqlite.index import SQLiteIndex
from sifaka.storage.sqlite.log import SQLiteLog
from sifaka.storage.sqlite.store import SQLiteStorage

__all__ = ["SQLiteIndex", "SQLiteLog", "SQLiteStorage"]
