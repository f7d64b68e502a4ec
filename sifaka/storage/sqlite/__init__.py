"""Runs in one SQLite file, and their index in it."""

from sifaka.storage.sqlite.store import SQLiteStorage

__all__ = ["SQLiteStorage"]
