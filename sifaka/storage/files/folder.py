"""The folder of one tenant: a file a run, and one that is locked while any of them is written.

Any id is the name of a file that is safe, and its own, on every file system.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sifaka.storage.files.durable import exclusive, settle_folder

_ENDING = ".jsonl"
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
"""The devices of Windows, whatever extension a name has."""
_LONGEST = 120
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class TenantFolder:
    """The place of a tenant's runs."""

    root: Path
    tenant: str

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.root / file_name(self.tenant)

    def run_file(self, run_id: str) -> Path:
        """The path of the run of this id."""
        return self.path / f"{file_name(run_id)}{_ENDING}"

    def run_files(self) -> list[Path]:
        """The files of all runs; what is no file, such as a folder or a pipe, is not one."""
        try:
            with os.scandir(self.path) as found:
                return [
                    self.path / each.name
                    for each in found
                    if each.name.endswith(_ENDING) and _is_file(each)
                ]
        except FileNotFoundError:
            return []

    @contextmanager
    def writing(self) -> Generator[None]:
        """Lock the tenant for writing; the folder is created if need be."""
        for folder in (self.root, self.path):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                settle_folder(folder.parent)
        with exclusive(self.path / ".store"):
            yield


def _is_file(found: "os.DirEntry[str]") -> bool:
    try:
        return found.is_file()
    except OSError:  # a link to itself
        return False


def file_name(identifier: str) -> str:
    """The id, percent-encoded but for small letters, digits, `_` and `-`.

    No two ids share a name, not even where capitals do not count, and none is `.`, `..` or hidden.
    Of a long id the name has the beginning and a SHA-256.
    """
    octets = identifier.encode("utf-8", "surrogatepass")
    name = "".join(chr(octet) if octet in _PLAIN else f"%{octet:02x}" for octet in octets)
    if name in _DEVICES:
        return f"%{octets[0]:02x}{name[1:]}"
    if len(name) > _LONGEST:
        # `%-` is in no other name: elsewhere two hexadecimal digits follow a `%`.
        return f"{name[:_SHOWN]}%-{sha256(octets).hexdigest()}"
    return name or "%"
