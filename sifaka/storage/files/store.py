"""A store in plain files."""

from pathlib import Path

from sifaka.storage.files.log import FileLog
from sifaka.storage.store import LogStore


class FileStorage(LogStore[FileLog]):
    """A `ThoughtStore` of a `FileLog`, searched by reading all runs.

    Args:
        folder: Where the files are; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, folder: str | Path, *, tenant: str = "default") -> None:
        super().__init__(FileLog(folder, tenant=tenant), tenant=tenant)

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return self.log.folder
