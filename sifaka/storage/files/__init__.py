"""Runs in plain files, a line of JSON for each entry."""

from sifaka.storage.files.store import FileStorage

__all__ = ["FileStorage"]
