r"""The form of a run's file: JSON Lines, an entry each, in the order of the run.

Two more kinds of lines are not entries and are not counted as such:

    {"kind":"claim","fence":3}       the run was taken over for the third time
    {"kind":"append","entries":2}    the next two entries were appended together

What follows the last append that is whole, such as half a line or one entry of two, was never
acknowledged: a process was killed, or the power failed, while it was written. It is not part of the
run, and the next append cuts it off. Half a line is never JSON, so a last line that is only lacks
its `\n`, which an editor may have taken away. Nor does it matter what else editors do to the ends
of lines: empty ones and `\r` are passed over.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sifaka.record.run import RunSummary
from sifaka.storage.files.durable import Stamp, stamp_of

_MARK = re.compile(rb'\{"kind":"(?:claim","fence":(\d{1,18})|append","entries":(\d{1,18}))\}')


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The contents of a run's file."""

    payloads: tuple[bytes, ...] = ()
    """The JSON of each entry."""
    fence: int = 0
    """The number of the last claim of the run."""
    length: int = 0
    """The bytes of the file that are whole appends and claims."""
    ended: bool = True
    """True when the last of these bytes is a `\\n`, as it should be."""


def parse_record(content: bytes) -> FileRecord:
    """The record in a file's content; entries are not looked into."""
    payloads: list[bytes] = []
    whole = fence = length = position = missing = 0
    *lines, rest = content.split(b"\n")
    if _is_whole(rest):
        lines.append(rest)
    for ending in lines:
        position = min(position + len(ending) + 1, len(content))
        line = ending.removesuffix(b"\r")
        if not line:
            continue
        mark = _MARK.fullmatch(line) if not missing else None
        if mark is None:
            payloads.append(line)
            missing -= missing > 0
        elif mark[1]:
            fence = int(mark[1])
        else:
            missing = int(mark[2])
        if not missing:
            whole, length = len(payloads), position
    ended = not length or content[length - 1 : length] == b"\n"
    return FileRecord(tuple(payloads[:whole]), fence, length, ended)


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def append_lines(payloads: Sequence[str]) -> bytes:
    """The lines of one append; reading takes all of its entries or none."""
    mark = [f'{{"kind":"append","entries":{len(payloads)}}}'] if len(payloads) > 1 else []
    return "".join(f"{line}\n" for line in (*mark, *payloads)).encode()


def claim_line(fence: int) -> bytes:
    """The line that says who may append from now on."""
    return f'{{"kind":"claim","fence":{fence}}}\n'.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A run's file in one of its states."""

    stamp: Stamp
    version: int
    fence: int
    length: int
    ended: bool
    line: RunSummary | None = None
    """None before the first listing, and when the file cannot be read."""
    damaged: bool = False

    @classmethod
    def of(cls, record: FileRecord, stamp: Stamp) -> "KnownFile":
        """The state of a file from its record."""
        return cls(
            stamp=stamp,
            version=len(record.payloads),
            fence=record.fence,
            length=record.length,
            ended=record.ended,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The one mutable place, shared by all tenants' views and by their threads."""

    _files: dict[Path, KnownFile] = field(default_factory=dict[Path, KnownFile])

    def get(self, path: Path) -> KnownFile | None:
        """The known state of a file, unless the file has changed since."""
        known = self._files.get(path)
        return known if known and known.stamp == stamp_of(path) else None

    def put(self, path: Path, known: KnownFile) -> KnownFile:
        """Remember it; gives it back."""
        self._files[path] = known
        return known

    def keep_only(self, folder: Path, present: Iterable[Path]) -> None:
        """Drop the files of a folder that are not there any more."""
        for path in {path for path in list(self._files) if path.parent == folder} - set(present):
            self._files.pop(path, None)
