"""A worker process, as its parent sees it."""

import json
import pickle
import signal
import sys
from collections.abc import Collection
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Timer
from typing import Any

from sifaka.isolation import process

_PATIENCE = 4
"""Seconds of waiting for each second of processor time, since the machine may be busy."""


class Worker:
    """A process that does one piece of work after another.

    It starts with the first piece, and again after one that it did not survive.

    Args:
        modules: What a process imports when it starts again, so that the next work need not wait
            for it; the set may grow.
    """

    def __init__(self, modules: Collection[str] = ()) -> None:
        self._modules = modules
        self._process: Popen[bytes] | None = None
        self._late = False
        self._killed = False
        self._lock = Lock()

    def work(self, work: bytes, *, seconds: float, memory: int) -> Any:
        """The result of a pickled function and its arguments.

        Raises:
            TimeoutError: It took more processor time than `seconds`, or far longer to wait for.
            MemoryError: It took more memory than `memory` bytes.
            ChildProcessError: The process has ended.
            OSError: No process can be started.
            Exception: What the function raised.
        """
        with self._lock:
            if self._killed:
                raise ChildProcessError("the work was given up")
            child = self._process or self._started(())
            self._late = False
        limit = Timer(1 + seconds * _PATIENCE, self._give_up, (child,))
        limit.daemon = True
        limit.start()
        try:
            answer = _asked(child, pickle.dumps((seconds, memory, work)))
        finally:
            limit.cancel()
        if answer is None:
            raise self._end(child)
        done, outcome = pickle.loads(answer)  # noqa: S301 - written by our own program
        if done:
            return outcome
        if isinstance(outcome, MemoryError):
            self.close()  # what is left of its memory may not do for the next
        raise outcome

    def start(self) -> None:
        """Start the process if the last one has ended; the next work then finds it ready.

        Raises:
            OSError: It cannot be started.
        """
        with self._lock:
            if self._process is None and not self._killed:
                self._started(self._modules)

    def kill(self) -> None:
        """Let the work fail with `ChildProcessError`, until `close`; from any thread."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process, if there is one; the next work starts another."""
        with self._lock:
            child, self._process, self._killed = self._process, None, False
        if child is not None:
            child.kill()
            child.communicate()

    def _started(self, modules: Collection[str]) -> "Popen[bytes]":
        folders = [folder or str(Path.cwd()) for folder in sys.path]
        told = json.dumps([folders, sorted(modules)])
        self._process = child = Popen(  # noqa: S603 - a fixed command; the work goes through stdin
            [sys.executable, "-I", str(process.__file__), told],
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,  # Ctrl-C is for the command, which ends this
        )
        return child

    def _give_up(self, child: "Popen[bytes]") -> None:
        self._late = True
        child.kill()

    def _end(self, child: "Popen[bytes]") -> Exception:
        self._process = None
        child.communicate()
        if self._late or child.returncode == -getattr(signal, "SIGXCPU", 0):
            return TimeoutError("it took too long")
        return ChildProcessError(f"the worker process ended with {child.returncode}")


def _asked(child: "Popen[bytes]", question: bytes) -> bytes | None:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        process.send(child.stdin, question)
        return process.receive(child.stdout)
    except (OSError, ValueError):  # it has ended, or was closed
        return None
