"""A folder of files."""

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from anyio import to_thread

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument
from sifaka.evidence.sources.files import (
    LARGEST,
    MOST_FILES,
    FileState,
    NotText,
    file_text,
    files_below,
    parts_of,
    title_of,
)
from sifaka.evidence.sources.in_process import Searchable
from sifaka.storage.protocol import Health

MOST_BYTES = 10_000_000
"""Of all files together."""
_SHOWN = 3
_Read = tuple[FileState, tuple[SourceDocument, ...] | str]
"""A file as it was when it was read, and what it holds, or why it is left out."""


class FolderAdapter:
    """Finds texts in the files of a folder that share words with the query, by BM25.

    Files `.md`, `.txt`, `.rst`, `.html`, `.htm`, `.csv` and `.json` are read, in its subfolders
    too. Left out are hidden ones, links that lead out of the folder, files that are larger than
    `largest` bytes, that are not text, or that cannot be read; `health` tells which. A long file
    is found by its parts. Files are read again only after they have changed.

    Args:
        path: The folder, absolute.
        name: The adapter's name.
        most_files: Of more, the first by their paths.
        largest: Bytes of one file.
        most_bytes: Of all files together; the first by their paths.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        name: str = "folder",
        most_files: int = MOST_FILES,
        largest: int = LARGEST,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.path = Path(path)
        self.name = name
        self._most_files = most_files
        self._largest = largest
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._read: dict[str, _Read] = {}
        """By the path below the folder: what a file holds, or why it is left out."""
        self._beyond: tuple[str, ...] = ()
        self._searchable = Searchable()

    @property
    def place(self) -> str:
        """The folder."""
        return f"folder:{self.path}"

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """The files, or parts of files, that match best, with their scores; see `Adapter`.

        They are `published` when the file was last changed, and their ids are paths in the folder.

        Raises:
            SourceError: There is no such folder, or it cannot be read.
        """
        if not query.strip() or limit < 1:
            return ()
        # Who cannot wait for a large folder to be read finds it read the next time.
        return await to_thread.run_sync(self._search, query, limit, filters, abandon_on_cancel=True)

    async def health(self) -> Health:
        """Read the folder; tells how many files there are and which are left out."""
        try:
            read = await to_thread.run_sync(self._refreshed)
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        out = [f"{path} ({why})" for path, why in self.left_out.items()]
        more = f" and {len(out) - _SHOWN} more" if len(out) > _SHOWN else ""
        files = len(read) - sum(isinstance(held, str) for _, held in read.values())
        told = "1 file" if files == 1 else f"{files} files"
        told += f"; left out: {', '.join(out[:_SHOWN])}{more}" if out else ""
        return Health(part=self.place, works=True, found=told)

    async def aclose(self) -> None:
        """Forget what was read."""
        with self._lock:
            self._read, self._searchable = {}, Searchable()

    @property
    def left_out(self) -> Mapping[str, str]:
        """The reasons that files are left out, by their paths, as of the last search."""
        reasons = {path: held for path, (_, held) in self._read.items() if isinstance(held, str)}
        return reasons | dict.fromkeys(self._beyond, "beyond what is read of a folder")

    def _search(self, query: str, limit: int, filters: SearchFilters) -> tuple[SourceDocument, ...]:
        self._refreshed()
        return self._searchable.best(query, limit, filters)

    def _refreshed(self) -> Mapping[str, _Read]:
        """The current files of the folder; a file is read again when it has changed."""
        with self._lock:
            try:
                found, beyond = files_below(self.path, self._most_files)
            except OSError as error:
                raise SourceError(
                    # A search may come from a client that must not learn the path.
                    f"{self.name}: the folder cannot be read: {error.strerror}",
                    "correct its path, or who may read it",
                    adapter=self.name,
                    code="not_found" if isinstance(error, FileNotFoundError) else "forbidden",
                ) from error
            read: dict[str, _Read] = {}
            room = self._most_bytes
            for path, state in found.items():
                if state.size <= self._largest:
                    room -= state.size
                if room < 0:
                    beyond = (*beyond, path)
                    continue
                known = self._read.get(path)
                same = known is not None and known[0] == state
                read[path] = known if same and known else (state, self._held(path, state))
            if read != self._read:
                held = [held for _, held in read.values() if not isinstance(held, str)]
                self._searchable = Searchable(
                    _told_apart([each for parts in held for each in parts])
                )
            self._read, self._beyond = read, beyond
            return read

    def _held(self, path: str, state: FileState) -> tuple[SourceDocument, ...] | str:
        """The documents of one file, or why there are none."""
        try:
            text = file_text(state.real, self._largest)
        except NotText as error:
            return str(error)
        except OSError as error:
            return (error.strerror or "cannot be read").lower()
        written = datetime.fromtimestamp(state.changed / 1_000_000_000, UTC)
        parts = parts_of(text)
        title = title_of(text, path)
        return tuple(
            SourceDocument(
                text=part,
                title=title if len(parts) == 1 else f"{title} (part {number} of {len(parts)})",
                id=path if len(parts) == 1 else f"{path}#{number}",
                adapter=self.name,
                published=written,
            )
            for number, part in enumerate(parts, 1)
        )


def _told_apart(documents: Sequence[SourceDocument]) -> list[SourceDocument]:
    """The documents, with their paths in titles that several have: they are not the same one."""
    count: dict[str, int] = {}
    for document in documents:
        count[document.title] = count.get(document.title, 0) + 1
    return [
        document
        if count[document.title] == 1
        else document.model_copy(update={"title": f"{document.title} ({document.id})"})
        for document in documents
    ]
