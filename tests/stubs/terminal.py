"""A real terminal of so many columns, in which a command of ours runs."""

import os
import re
import struct
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.stubs.commands import own_environment

pty = pytest.importorskip("pty")
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])")


@dataclass
class Session:
    """A command at a terminal, and everything that it has sent there."""

    process: subprocess.Popen[bytes]
    person: int
    sent: str = ""
    _bytes: bytes = field(default=b"", repr=False)

    def read(self) -> bool:
        """Add some more, without what moves the cursor or colours; False at the end."""
        try:
            more = os.read(self.person, 65536)
        except OSError:  # Linux ends a terminal that way
            more = b""
        self._bytes += more
        self.sent = _SEQUENCE.sub("", self._bytes.decode("utf-8", errors="ignore"))
        return bool(more)

    def until(self, words: str) -> str:
        """Everything, once these words are there."""
        while not re.search(words, self.sent):
            assert self.read(), f"{words!r} never came: {self.sent!r}"
        return self.sent

    def end(self) -> str:
        """Everything, once the command has left."""
        while self.read():
            pass
        self.process.wait(timeout=60)
        return self.sent


@contextmanager
def at_terminal(
    home: Path,
    *arguments: str,
    columns: int = 80,
    settings: Mapping[str, str] | None = None,
    keys: bool = False,
) -> Generator[Session]:
    """A command of `sifaka` at a terminal, which its input is as well with `keys`."""
    import fcntl
    import termios

    person, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    told = {
        "TERM": "xterm-256color",
        "PYTHONIOENCODING": "utf-8",
        **(settings or {}),
    }
    environ = own_environment(home.parent, **told)
    for name in ("COLUMNS", "NO_COLOR"):
        environ.pop(name, None)
    command = [sys.executable, "-m", "sifaka_mcp.cli", *arguments]
    with subprocess.Popen(
        command,
        stdin=terminal if keys else subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env=environ,
    ) as process:
        os.close(terminal)
        try:
            yield Session(process, person)
        finally:
            process.kill()
            os.close(person)
