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
from collections.abc import Sequence
from dataclasses import dataclass

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
