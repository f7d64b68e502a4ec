"""The program of a worker process: a function and its arguments in, its outcome out.

It is started by `sifaka.isolation.pool` as a file, so it imports only what its arguments name.

Arguments: the folders to import from, and the modules to import at once, as a JSON list. A question
is a pickle of the seconds of processor time, the bytes of memory, and a pickled function with its
arguments; an answer is the pickle of `(True, result)` or `(False, exception)`. Both come after
their length.
"""

import gc
import json
import os
import pickle
import struct
import sys
import time
from contextlib import suppress
from importlib import import_module
from math import ceil
from typing import IO, Any

_LENGTH = struct.Struct(">Q")
_THRESHOLDS = (50_000, 20, 100)
"""For `gc.set_threshold`: most of what is made here are tuples, and none of it is garbage yet."""
_NICE = 5
"""How far the work steps back behind the process that serves; a worker's worker no further."""


def main(folders: list[str], modules: list[str]) -> None:
    """Answer until standard input ends."""
    sys.path[:] = folders
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what prints must not end up among the answers
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    gc.set_threshold(*_THRESHOLDS)
    # A library's threads are no use to one piece of work, and cost it the memory that it may take.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if hasattr(os, "nice"):
        os.nice(max(0, _NICE - os.nice(0)))
    for module in modules:
        with suppress(Exception):  # whoever uses it gets the error
            import_module(module)
    while (question := receive(questions)) is not None:
        send(answers, _answer(*pickle.loads(question)))  # noqa: S301 - the parent wrote it


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write a message after its length."""
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None when the other side has ended."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None


def _answer(seconds: float, memory: int, work: bytes) -> bytes:
    try:
        _limit(seconds, memory)
        function, arguments = pickle.loads(work)  # noqa: S301 - the parent wrote it
        return pickle.dumps((True, function(*arguments)))
    # Broad on purpose: whatever it is, it is for the process that asked.
    except Exception as error:  # noqa: BLE001 - raised there
        with suppress(Exception):  # one that cannot be pickled goes as words
            refusal = pickle.dumps((False, error))
            pickle.loads(refusal)  # noqa: S301 - just written
            return refusal
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _limit(seconds: float, memory: int) -> None:
    """Let the system end this process when it takes more."""
    try:
        import resource
    except ImportError:  # Windows: the deadline of the parent alone
        return
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds), most))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed: Any = memory if most == resource.RLIM_INFINITY else min(memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
