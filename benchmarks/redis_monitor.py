"""How long answers take from their provider to the record in Redis, as Redis itself sees it."""

import re
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from benchmarks.slow_provider import SENT

_STORED = re.compile(r'^\+(\d+\.\d+) \[\d+ lua\] "XADD".*?' + SENT + r"(\d+)", re.MULTILINE)


@contextmanager
def delays_of_answers(url: str) -> Generator[Callable[[], list[float]]]:
    """Within it Redis tells of each command, over a connection of its own.

    Yields:
        A function: seconds from the sending of each answer to its being on record, so far.
    """
    parts, told = urlsplit(url), bytearray()
    with socket.create_connection((parts.hostname or "", parts.port or 6379)) as connection:

        def read() -> None:
            while block := connection.recv(1 << 20):
                told.extend(block)

        reader = threading.Thread(target=read, daemon=True)
        connection.sendall(b"MONITOR\r\n")
        reader.start()

        def delays() -> list[float]:
            stored: dict[str, float] = {}
            for at, sent in _STORED.findall(told.decode(errors="replace")):
                stored.setdefault(sent, float(at))
            return [at - int(sent) / 1e9 for sent, at in stored.items()]

        try:
            yield delays
        finally:
            connection.shutdown(socket.SHUT_RDWR)
            reader.join()
