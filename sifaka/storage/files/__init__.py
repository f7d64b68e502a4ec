"""Runs in plain files, one a run: a record that outlives the program that wrote it."""

from sifaka.storage.files.log import FileLog
from sifaka.storage.files.store import FileStorage

__all__ = ["FileLog", "FileStorage"]
