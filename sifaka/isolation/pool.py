"""Runs work on foreign text: here while the text is short, in a worker process beyond that.

What takes quadratic time takes next to none on a short text; on a long one it would hold up all
that this process serves, and go on after its client has left.
"""

import asyncio
import atexit
import json
import os
import pickle
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Condition, Event, Lock, Thread, Timer
from typing import Any, TypeVar, TypeVarTuple, Unpack

from anyio import to_thread

from sifaka._internal.context_values import setting
from sifaka.isolation import process

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_PATIENCE = 4
"""Seconds of waiting for each second of processor time, since the machine may be busy."""


class WorkerProcess:
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
            child = self._process or self._start_process(())
            self._late = False
        limit = Timer(1 + seconds * _PATIENCE, self._give_up, (child,))
        limit.daemon = True
        limit.start()
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            process.send(child.stdin, pickle.dumps((seconds, memory, work)))
            answer = process.receive(child.stdout)
        except (OSError, ValueError):  # it has ended, or was closed
            answer = None
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
                self._start_process(self._modules)

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

    def _start_process(self, modules: Collection[str]) -> "Popen[bytes]":
        options = json.dumps([[folder or str(Path.cwd()) for folder in sys.path], sorted(modules)])
        self._process = child = Popen(  # noqa: S603 - a fixed command; the work goes through stdin
            [sys.executable, "-I", str(process.__file__), options],
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


SPREAD = Event()
"""Set by `spread` where there is more than one core."""
MEMORY = 1 << 30
"""Bytes that one piece of work may take."""
_IDLE_SECONDS = 60.0
"""Seconds after which a worker without work ends."""
_IMPORT_SECONDS = 30.0
GIVEN_UP = (TimeoutError, MemoryError, ChildProcessError)
"""What is raised of work that takes too much, or ends its process."""
SHORT = 5_000
"""The most characters that are worked on in a thread of this process."""
SECONDS = 20.0
"""Seconds of processor time that a longer text may take, unless a caller allows less."""
_owner: ContextVar[str] = ContextVar("sifaka_owner", default="")


def sharing(owner: str) -> AbstractContextManager[None]:
    """Within it work counts as that of an owner; no owner holds more than half of the workers."""
    return setting(_owner, owner)


async def run_limited(
    function: Callable[[Unpack[Ts]], T],
    *arguments: *Ts,
    size: float,
    seconds: float = SECONDS,
) -> T:
    """Call a function that works on a foreign text, beside the event loop.

    A task that is cancelled waits for the end of what is done here, which is short, and ends the
    process that works for it.

    Args:
        function: One of a module, or a method; it, its arguments and its result can be pickled.
        arguments: Its arguments.
        size: The characters that it works on; infinite where even a few may take it long.
        seconds: Of processor time that it may take in a worker process.

    Raises:
        TimeoutError: It took longer.
        MemoryError: It took more than `MEMORY`.
        ChildProcessError: Its process has ended, as when it crashed.
        Exception: What the function raised.
    """
    if size <= SHORT:
        return await to_thread.run_sync(partial(function, *arguments))
    # With the task its outcome is cancelled.
    return await asyncio.wrap_future(_pool().put(function, arguments, seconds))


def run_limited_in_thread(
    function: Callable[[Unpack[Ts]], T],
    *arguments: *Ts,
    size: float,
    seconds: float = SECONDS,
) -> T:
    """As `run_limited`, for a thread that may wait."""
    if size <= SHORT:
        return function(*arguments)
    return _pool().put(function, arguments, seconds).result()


def spread(*modules: str) -> None:
    """Let short work run in worker processes too, as suits a server with many runs at once.

    What its threads do takes time from the event loop, since they share one core with it; on a
    machine with one core this changes nothing. Workers of a queue are processes side by side
    already, and are slower with it.

    Args:
        modules: What the first worker imports before there is work.
    """
    if (os.cpu_count() or 1) > 1:
        SPREAD.set()
        for module in modules:
            _pool().put(import_module, (module,), _IMPORT_SECONDS)


@dataclass(eq=False)
class _Job:
    owner: str
    work: bytes
    seconds: float
    outcome: "Future[Any]" = field(default_factory=Future[Any])

    def run(self, worker: WorkerProcess) -> None:
        """Put the outcome into `outcome`; when that is cancelled, the worker is killed."""

        def kill_if_cancelled(outcome: "Future[Any]") -> None:
            if outcome.cancelled():
                worker.kill()

        self.outcome.add_done_callback(kill_if_cancelled)
        with suppress(InvalidStateError):  # it was cancelled
            try:
                self.outcome.set_result(worker.work(self.work, seconds=self.seconds, memory=MEMORY))
            # Broad on purpose: the outcome of the work is for the one who waits for it.
            except BaseException as error:  # noqa: BLE001 - raised there
                self.outcome.set_exception(error)


class _Pool:
    """Workers, each with a thread that waits for it; they start as they are needed.

    The owner with the fewest workers at work goes first, and of its work the oldest.
    """

    def __init__(self) -> None:
        self.most = max(4, 2 * (os.cpu_count() or 1))
        self._lock = Lock()
        self._waiting: dict[str, deque[_Job]] = {}
        self._at_work: Counter[str] = Counter()
        self._idle: list[Condition] = []
        """Of the workers without work; the last one has its process warm."""
        self._workers: set[WorkerProcess] = set()
        self._modules: set[str] = set()
        """Of the functions that were called."""

    def put(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float
    ) -> "Future[Any]":
        """The outcome of some work, which begins when it is its owner's turn."""
        job = _Job(_owner.get(), pickle.dumps((function, arguments)), seconds)
        with self._lock:
            called = function.func if isinstance(function, partial) else function
            self._modules.add(called.__module__)
            self._waiting.setdefault(job.owner, deque()).append(job)
            if not self._wake() and self._next() is not None and len(self._workers) < self.most:
                worker = WorkerProcess(self._modules)
                self._workers.add(worker)
                Thread(target=self._serve, args=(worker,), daemon=True).start()
        return job.outcome

    def close(self) -> None:
        """End all processes."""
        for worker in tuple(self._workers):
            worker.kill()  # which no process follows

    def _serve(self, worker: WorkerProcess) -> None:
        free = Condition(self._lock)
        while (job := self._take_job(worker, free)) is not None:
            if not job.outcome.cancelled():
                job.run(worker)
                if job.outcome.cancelled():  # the worker may be killed only now: it is done with
                    worker.close()
                    with self._lock:
                        self._workers.remove(worker)
                        worker = WorkerProcess(self._modules)
                        self._workers.add(worker)
            with suppress(OSError):  # the next work fails with it
                worker.start()
            with self._lock:
                self._at_work[job.owner] -= 1
                self._wake()
        worker.close()

    def _take_job(self, worker: WorkerProcess, free: Condition) -> _Job | None:
        """The next job, which counts as at work; None when there was none for a while."""
        with self._lock:
            while (owner := self._next()) is None:
                self._idle.append(free)
                if not free.wait(_IDLE_SECONDS):
                    if free in self._idle:
                        self._idle.remove(free)
                    if self._next() is None:
                        self._workers.remove(worker)
                        return None
            job = self._waiting[owner].popleft()
            if not self._waiting[owner]:
                del self._waiting[owner]
            self._at_work[owner] += 1
            return job

    def _wake(self) -> bool:
        """Wake an idle worker if there is work for it; False when none could be."""
        if not self._idle or self._next() is None:
            return False
        self._idle.pop().notify()
        return True

    def _next(self) -> str | None:
        """The owner whose turn it is."""
        allowed = [each for each in self._waiting if self._at_work[each] < self.most // 2]
        return min(allowed, key=self._at_work.__getitem__, default=None)


@cache
def _pool() -> _Pool:
    pool = _Pool()
    atexit.register(pool.close)
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
