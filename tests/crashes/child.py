"""The processes that are killed: forked from one that has imported everything and started nothing.

A fork takes a few milliseconds, a fresh interpreter takes seconds. It is only allowed as long as
the parent has neither threads nor an event loop nor a connection to a file.
"""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, cast

import anyio
import apsw

import sifaka.chain.chain as chain_module
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage import SQLiteStorage
from sifaka.storage.sqlite.connection import SqlConnection
from tests.crashes.scenario import TASK, TEXT, Scenario
from tests.stubs.stores import PassingStore

HANGS_AFTER = 20
"""Seconds after which a process that has not ended is taken to hang."""
APPENDS = "appends.txt"
"""Where a process that has finished its run says how often it appended."""
DURABLE = "durable.txt"
"""Where a process that kills itself says how many entries it leaves."""
MODULES = "modules.txt"
"""Where it says what it has imported."""


When = Literal["before", "inside", "after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtAppend:
    """The process kills itself at its nth append, from 1.

    Before it; inside the transaction, when its last entry has been written; or once it is durable.
    """

    when: When
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AtTime:
    """The parent kills the process so many seconds after it was forked."""

    seconds: float


Kill = AtAppend | AtTime
Outcome = Literal["finished", "killed"]


class ChildFailed(AssertionError):
    """A process ended otherwise than it should have."""


class Killing(PassingStore):
    """A store in a file that counts its appends, and whose process kills itself at one of them."""

    def __init__(self, folder: Path, at: Kill | None) -> None:
        self.appends = 0
        self._durable = folder / DURABLE
        store = SQLiteStorage(folder / "runs.db")
        super().__init__(store)
        self._worker = store.worker
        self._at = at

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self.appends += 1
        if self._is_due("before"):
            self._die(expected_version)
        if self._is_due("inside"):
            die = partial(self._die, expected_version)
            await self._worker.run(partial(_at_entry, len(entries), die))
        await super().append(run, entries, expected_version=expected_version, fence=fence)
        if self._is_due("after"):
            self._die(run.version)

    def _is_due(self, when: When) -> bool:
        return self._at == AtAppend(when=when, number=self.appends)

    def _die(self, durable: int) -> None:
        self._durable.write_text(f"{durable}", encoding="ascii")
        os.kill(os.getpid(), signal.SIGKILL)


def _at_entry(number: int, act: Callable[[], None], connection: SqlConnection) -> None:
    """Act as soon as the connection has inserted so many entries, which is before it commits."""
    inserted = 0

    def count(kind: int, database: str, table: str, row: int) -> None:
        nonlocal inserted
        inserted += table == "entries"
        if inserted == number:
            act()

    cast("apsw.Connection", connection).set_update_hook(count)


def work(folder: Path, scenario: Scenario, kill: Kill | None = None) -> Outcome:
    """Fork a process that starts the folder's run, or goes on with it, and wait for its end.

    Raises:
        ChildFailed: It has hung, or ended with an error.
    """

    async def run() -> None:
        # The questions of two runs are compared, and these are in all of them.
        chain_module.new_frame_key = lambda: "a key"
        store = Killing(folder, kill)
        chain = scenario.chain(store, folder / "asked.log")
        begun = (await store.recent(limit=1)).runs
        if begun:
            await chain.resume(begun[0].run_id)
        else:
            await chain.run(TASK, text=TEXT)
        await store.aclose()
        (folder / APPENDS).write_text(f"{store.appends}", encoding="ascii")
        (folder / MODULES).write_text("\n".join(sys.modules), encoding="ascii")

    return _in_child(folder, lambda: anyio.run(run), kill)


def _in_child(folder: Path, body: Callable[[], None], kill: Kill | None) -> Outcome:
    assert threading.active_count() == 1, "a fork would copy locks that other threads hold"
    pid = os.fork()
    if pid == 0:
        signal.alarm(HANGS_AFTER)  # its default action ends the process, whatever it waits for
        code = 1
        try:
            body()
            code = 0
        except BaseException:  # noqa: BLE001 - the parent reads it
            (folder / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        finally:
            os._exit(code)
    if isinstance(kill, AtTime):
        time.sleep(kill.seconds)
        os.kill(pid, signal.SIGKILL)  # not waited for yet: nobody else can have its number
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return "finished"
    if code == -signal.SIGKILL:
        return "killed"
    if code == -signal.SIGALRM:
        raise ChildFailed(f"it hung for {HANGS_AFTER} s")
    error = folder / "error.txt"
    said = error.read_text(encoding="utf-8") if error.exists() else "it said nothing"
    raise ChildFailed(f"it ended with {code}: {said}")
