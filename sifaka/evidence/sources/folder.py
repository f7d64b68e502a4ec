"""A folder of files."""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path, PurePosixPath
from typing import TypeVar

from sifaka._internal.safe_open import opened, read_beneath
from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument, moment
from sifaka.evidence.passages import LINES, stretches
from sifaka.evidence.sources.in_process import Searchable
from sifaka.evidence.sources.readers import (
    READERS,
    NotText,
    Reading,
    decoded,
    read_document,
    require_reader,
)
from sifaka.isolation import run_limited_in_thread
from sifaka.storage.protocol import Health
from sifaka.text.markdown import front_matter

SUFFIXES = frozenset({".md", ".txt", ".rst", ".csv", ".json", *READERS})
_UNREAD = frozenset(
    {".doc", ".epub", ".odp", ".ods", ".odt", ".pages", ".ppt", ".pptx", ".rtf", ".xls", ".xlsx"}
)
"""Kinds of documents that are reported as left out; other files are no documents."""
MOST_FILES = 2_000
_MOST_ENTRIES = 50_000
"""Names that are looked at, of whatever kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file as it is now; equal states mean that nothing has changed."""

    real: Path
    """Its real path, without links."""
    size: int
    changed: int
    """Nanoseconds since 1970."""


BEYOND = "beyond what is read of a folder"


def files_below(folder: Path, most: int) -> dict[str, FileState | str]:
    """The files of a folder and its subfolders, by their paths below it, in alphabetical order.

    Returns:
        The states of the first `most`, and the reasons that others are left out.

    Raises:
        OSError: The folder itself cannot be read.
    """
    root = folder.resolve(strict=True)
    next(root.iterdir(), None)  # raises for what is no folder, or may not be read
    states = {path.relative_to(root).as_posix(): _stat_file(path, root) for path in _walk_dir(root)}
    readable = sorted(name for name, state in states.items() if isinstance(state, FileState))
    states |= dict.fromkeys(readable[most:], BEYOND)
    return dict(sorted(states.items()))


def _walk_dir(root: Path) -> Iterator[Path]:
    """Every name with a known suffix; folders that are links are not entered, so it ends."""
    room = _MOST_ENTRIES
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        room -= len(folders)
        if room < 0:
            return
        for name in sorted(names)[:room]:
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES | _UNREAD:
                yield Path(folder, name)
        room -= len(names)


def _stat_file(path: Path, root: Path) -> FileState | str:
    """The state of the file at a path, or the reason that it is left out."""
    if path.suffix.lower() in _UNREAD:
        return f"{path.suffix.lower()} is not read"
    try:
        # A link may have a name that says nothing of what it leads to.
        with opened(path, root, hidden=False) as file:
            stat = os.fstat(file.stream.fileno())
            return FileState(real=file.real, size=stat.st_size, changed=stat.st_mtime_ns)
    except OSError as error:
        return (error.strerror or "cannot be read").lower()


LARGEST = 2_000_000
"""Bytes of a text that is read."""
LARGEST_DOCUMENT = 20_000_000
"""Bytes of a PDF or DOCX, most of which are no text."""
_AUTHOR, _DATE = (
    re.compile(rf"^:?(?:{names}):[ \t]*[\"']?([^\n\"']+)", re.IGNORECASE | re.MULTILINE)
    for names in ("authors?", "date|published|updated|last_modified|lastmod")
)
"""The lines of them in the front matter of Markdown, or in the fields that begin an RST."""


def is_packed(path: Path) -> bool:
    """True for a file most of whose bytes are no text."""
    return path.suffix.lower() in {".pdf", ".docx"}


def plain_reading(path: Path, content: bytes) -> Reading:
    """A text that needs no reader.

    Raises:
        NotText: It is binary, or neither UTF-8 nor UTF-16.
    """
    text = decoded(content).strip()
    author, date = (_find_field(line, path.suffix.lower(), text) for line in (_AUTHOR, _DATE))
    return Reading("", author, date, {"": text} if text else {})


def _find_field(line: re.Pattern[str], suffix: str, text: str) -> str:
    """The author or date that a text gives itself at its beginning; empty without one."""
    begins = {".md": front_matter(text), ".rst": 1_000}.get(suffix, 0)
    match = line.search(text[:begins])
    return match[1].strip() if match and (suffix == ".md" or match[0].startswith(":")) else ""


MOST_CHARS = 20_000
"""Of a part."""
_HEADING = re.compile(r"\A(?:---\n.*?\n---\n)?\s*#{1,3} +(.+)", re.DOTALL)


def title_of(text: str, path: str) -> str:
    """The heading that a text begins with, else the name of its file."""
    heading = _HEADING.match(text[:4_000])
    title = " ".join(heading[1].splitlines()[0].strip(" #").split()) if heading else ""
    return title[:120] or PurePosixPath(path).name


MOST_BYTES = 10_000_000
"""Of all files together; of a PDF or DOCX its text counts."""
_SECONDS = 10.0
"""Processor time for reading one document."""
_HEADER = 500
"""Characters of the first line of a table, which each of its parts begins with."""
_SHOWN = 3
T = TypeVar("T")
_Read = tuple[FileState | None, tuple[SourceDocument, ...] | str]
"""A file as it was when it was read, and what it holds, or why it is left out."""


class FolderAdapter:
    """Finds texts in the files of a folder that share words with the query, by BM25.

    Files `.md`, `.txt`, `.rst`, `.csv`, `.json`, `.html`, `.pdf` and `.docx` are read, in
    its subfolders too. Left out are hidden ones, links that lead out of the folder, files that are
    too large or too many, that are not text, or that cannot be read; `left_out` tells which.
    A long file is found by its parts, a PDF by its pages. Files are read again only after they have
    changed; those that need a reader are read in a worker process.

    Args:
        path: The folder, absolute.
        name: The adapter's name.
    """

    def __init__(self, path: str | Path, *, name: str = "folder") -> None:
        self.path = Path(path)
        self.name = name
        # One thread for all searches: those that cannot wait for it leave none behind.
        self._thread = ThreadPoolExecutor(1, "sifaka-folder")
        self._read: dict[str, _Read] = {}
        """By the path below the folder: what a file holds, or why it is left out."""
        self._searchable = Searchable()
        self.place = f"folder:{self.path}"
        """The folder."""

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters = ANYTHING
    ) -> Sequence[SourceDocument]:
        """The files, or parts of files, that match best, with their scores; see `Adapter`.

        They are `published` when the document itself says so. Their ids are paths in the folder,
        with the page or the part after a `#`.

        Raises:
            SourceError: There is no such folder, or it cannot be read.
        """
        if not query.strip() or limit < 1:
            return ()
        # A caller that cannot wait for a large folder finds it read the next time.
        await self._run_in_thread(self._refresh_files)
        return await self._run_in_thread(partial(self._searchable.best, query, limit, filters))

    async def health(self) -> Health:
        """Read the folder; tells how many files there are and which are left out."""
        try:
            read = await self._run_in_thread(self._refresh_files)
        except SourceError as error:
            return Health(part=self.place, works=False, found=str(error))
        out = [f"{path} ({why})" for path, why in self.left_out.items()]
        more = f" and {len(out) - _SHOWN} more" if len(out) > _SHOWN else ""
        files = len(read) - sum(isinstance(held, str) for _, held in read.values())
        summary = "1 file" if files == 1 else f"{files} files"
        summary += f"; left out: {', '.join(out[:_SHOWN])}{more}" if out else ""
        return Health(part=self.place, works=True, found=summary)

    async def aclose(self) -> None:
        """Forget what was read."""
        self._read, self._searchable = {}, Searchable()

    @property
    def left_out(self) -> Mapping[str, str]:
        """The reasons that files are left out, by their paths, as of the last search."""
        return {path: held for path, (_, held) in self._read.items() if isinstance(held, str)}

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        """The result of work in the adapter's thread; what has not begun is given up in time."""
        return await asyncio.wrap_future(self._thread.submit(work))

    def _refresh_files(self) -> Mapping[str, _Read]:
        """The current files of the folder; a file is read again when it has changed."""
        try:
            states = files_below(self.path, MOST_FILES)
        except OSError as error:
            raise SourceError(
                # A search may come from a client that must not learn the path.
                f"{self.name}: the folder cannot be read: {error.strerror}",
                "correct its path, or who may read it",
                adapter=self.name,
                error_code="not_found" if isinstance(error, FileNotFoundError) else "forbidden",
            ) from error
        read: dict[str, _Read] = {}
        room = MOST_BYTES
        for path, state in states.items():
            if isinstance(state, str):
                read[path] = None, state
                continue
            packed = is_packed(state.real)
            if not packed and state.size <= LARGEST:
                room -= state.size
            if room < 0:
                read[path] = None, BEYOND
                continue
            kept = self._read.get(path, (None, ""))
            read[path] = kept if kept[0] == state else (state, self._read_file(path, state))
            content = read[path][1]
            if packed and not isinstance(content, str):
                room -= sum(len(each.text) for each in content)
        if read != self._read:
            self._searchable = Searchable(
                each for _, held in read.values() if not isinstance(held, str) for each in held
            )
        self._read = read
        return read

    def _read_file(self, path: str, state: FileState) -> tuple[SourceDocument, ...] | str:
        """The documents of one file, or why there are none."""
        try:
            reading = self._parse_file(state.real)
        except NotText as error:
            return str(error)
        except OSError as error:
            return (error.strerror or "cannot be read").lower()
        parts = [
            (page, number, part)
            for page, text in reading.pages.items()
            for number, part in enumerate(stretches(text, MOST_CHARS, LINES), 1)
        ]
        title = reading.title or title_of(parts[0][2] if parts else "", path)
        is_table = path.lower().endswith(".csv") and parts
        header = parts[0][2].partition("\n")[0][:_HEADER] if is_table else ""
        several = len(parts) > 1
        return tuple(
            SourceDocument(
                text=f"{header}\n{part}" if header and number > 1 else part,
                title=f"{title} ({page.replace('=', ' ') or f'part {number} of {len(parts)}'})"
                if several
                else title,
                author=reading.author,
                id=f"{path}#{_fragment(page, number)}" if several or page else path,
                adapter=self.name,
                published=moment(reading.published),
            )
            for page, number, part in parts
        )

    def _parse_file(self, real: Path) -> Reading:
        suffix = real.suffix.lower()
        require_reader(suffix)
        most = LARGEST_DOCUMENT if is_packed(real) else LARGEST
        content = read_beneath(real, most, self.path, hidden=False)
        if suffix not in READERS:
            return plain_reading(real, content)
        try:
            return run_limited_in_thread(read_document, suffix, content, size=inf, seconds=_SECONDS)
        except TimeoutError as error:
            raise NotText(f"takes more than {_SECONDS:g} s to read") from error
        except MemoryError as error:
            raise NotText("takes too much memory to read") from error
        except ChildProcessError as error:
            raise NotText("its reader has crashed") from error


def _fragment(page: str, number: int) -> str:
    """The place of a part in its document, as the end of an address."""
    return page if page and number == 1 else f"{page}.{number}".strip(".")
