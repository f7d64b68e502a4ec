"""The contract of logs under random interleavings of two writers, crashes and lost replies.

A model of one run says after every step what the log must hold and how it must answer. The test
takes some seconds a log, and more with the slow servers; `LOG_PROPERTY_SECONDS=300` gives each
that long.
"""

import os
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from sifaka.errors import AppendRefused, Fenced, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.files import FileStorage
from sifaka.storage.log import load_if_there
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.tool_backed import RedisToolStorage
from tests.storage_contract.log_kinds import LOGS
from tests.stubs.tool_sessions import shared_redis_mcp

EXAMPLES_A_SECOND = {"memory": 12.0, "sqlite": 2.0, "file": 2.0, "redis": 2.0, "redis_mcp": 0.5}
"""How many fit into a second, about, on a busy machine."""
WRITERS = st.integers(0, 1)
FENCES = st.sampled_from(["own", "any"])
COUNTS = st.integers(1, 3)


@dataclass(frozen=True, slots=True)
class Append:
    """One append as it was sent."""

    run: Run
    entries: tuple[Entry, ...]
    after: int
    fence: int | None


class Writer:
    """A process with its own connection, what it believes of the run, and what it has not heard."""

    def __init__(self, log: ThoughtStore) -> None:
        self.log = log
        self.run: Run | None = None
        self.fence = 0
        self.unheard: Append | None = None


class Interleavings(RuleBasedStateMachine):
    """Two writers of one run."""

    portal: ClassVar[BlockingPortal]
    open_logs: Callable[[], Callable[[], ThoughtStore]]
    deadline: ClassVar[float]

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self.fence = 0
        self.count = 0
        self.over = time.monotonic() > self.deadline
        self.started = Started(prompt="Say it shorter.")
        self.reopen: Callable[[], ThoughtStore]
        self.writers: list[Writer] = []

    @initialize()
    def open(self) -> None:
        self.reopen = self.open_logs()
        self.writers = [Writer(self.reopen()) for _ in range(2)]

    def teardown(self) -> None:
        for writer in self.writers:
            self.call(writer.log.aclose)

    def call(self, function: Callable[..., Any], *args: object, **options: object) -> Any:
        """What the function answers in the loop of the logs."""
        return self.portal.call(partial(function, *args, **options))

    @rule(who=WRITERS, count=COUNTS, fence=FENCES)
    def append(self, who: int, count: int, fence: str) -> None:
        if self.over:
            return
        self.send(self.writers[who], self.next_append(self.writers[who], count, fence))

    @rule(who=WRITERS, count=COUNTS, fence=FENCES, arrives=st.booleans())
    def append_without_hearing(self, who: int, count: int, fence: str, arrives: bool) -> None:
        """The request, or only its answer, is lost."""
        if self.over:
            return
        writer = self.writers[who]
        append = self.next_append(writer, count, fence)
        if arrives:
            before = (writer.run, writer.unheard)
            self.send(writer, append)
            writer.run, writer.unheard = before
        writer.unheard = append

    @rule(who=WRITERS)
    def repeat(self, who: int) -> None:
        """An append of which no answer came is made again."""
        if self.over:
            return
        if append := self.writers[who].unheard:
            self.send(self.writers[who], append)

    @rule(who=WRITERS, count=COUNTS, fence=FENCES, delay=st.sampled_from([0.0, 0.0002, 0.002]))
    def crash_while_appending(self, who: int, count: int, fence: str, delay: float) -> None:
        """The writer ends in the middle: all of its entries are there, or none."""
        if self.over:
            return
        writer = self.writers[who]
        append = self.next_append(writer, count, fence)
        expected = self.predicted(append)

        async def interrupted() -> None:
            with anyio.move_on_after(delay), suppress(AppendRefused):
                await self.carry_out(writer, append)

        self.call(interrupted)
        self.crash(who)
        held = self.call(load_if_there, self.writers[who].log, self.started.run_id)
        version, known = held.version if held else 0, len(self.entries)
        taken = expected is None and append.after == known
        assert version in {known, append.run.version if taken else known}
        if version != len(self.entries):
            self.entries = [*self.entries[: append.after], *append.entries]
        self.writers[who].unheard = append

    @rule(counts=st.tuples(COUNTS, COUNTS))
    def append_at_once(self, counts: tuple[int, int]) -> None:
        """Of two writers who know the same, one is first, and the other is told."""
        if self.over or not self.entries:
            return
        for who in range(2):
            self.load(who)
        first, second = (
            self.next_append(writer, count, "any")
            for writer, count in zip(self.writers, counts, strict=True)
        )
        refused: list[Append] = []

        async def attempt(writer: Writer, append: Append) -> None:
            try:
                await self.carry_out(writer, append)
            except VersionConflict:
                refused.append(append)

        async def race() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(attempt, self.writers[0], first)
                group.start_soon(attempt, self.writers[1], second)

        self.call(race)
        assert len(refused) == 1
        won = second if refused[0] is first else first
        self.entries += won.entries
        self.writers[1 if won is second else 0].run = won.run

    @rule(who=WRITERS)
    def claim(self, who: int) -> None:
        if self.over:
            return
        writer = self.writers[who]
        if not self.entries:
            with pytest.raises(ThoughtNotFound):
                self.call(writer.log.claim, self.started.run_id)
            return
        self.fence += 1
        writer.fence = self.call(writer.log.claim, self.started.run_id)
        assert writer.fence == self.fence

    @rule(who=WRITERS)
    def load(self, who: int) -> None:
        if self.over:
            return
        writer = self.writers[who]
        writer.run = self.call(load_if_there, writer.log, self.started.run_id)
        assert writer.run == (Run.replay(self.entries) if self.entries else None)

    @rule(who=WRITERS)
    def crash(self, who: int) -> None:
        """The writer ends and comes back; it knows nothing but the claim that it had."""
        if self.over:
            return
        old = self.writers[who]
        self.writers[who] = Writer(self.reopen())
        self.writers[who].fence, self.writers[who].unheard = old.fence, old.unheard
        self.call(old.log.aclose)

    @rule(who=WRITERS)
    def delete(self, who: int) -> None:
        """Who knew the run is refused. The next run has another id: none is ever used again."""
        if self.over:
            return
        self.call(self.writers[who].log.delete, self.started.run_id)
        self.entries, self.fence = [], 0
        for writer in self.writers:
            if writer.run is not None:
                self.send(writer, self.next_append(writer, 1, "own"))
            with pytest.raises(ThoughtNotFound):
                self.call(writer.log.claim, self.started.run_id)
            writer.run, writer.fence, writer.unheard = None, 0, None
        self.started = Started(prompt="Say it shorter.")

    @invariant()
    def what_is_there_is_what_was_acknowledged(self) -> None:
        if self.over:
            return
        for writer in self.writers:
            assert self.call(_entries, writer.log, self.started.run_id) == self.entries
            page = self.call(writer.log.recent, limit=9)
            assert [line.run_id for line in page.runs] == [self.started.run_id][: len(self.entries)]

    def next_append(self, writer: Writer, count: int, fence: str) -> Append:
        """Some further entries, as the writer knows the run."""
        run, entries = writer.run, list[Entry]()
        for _ in range(count):
            self.count += 1
            if run is None:
                entries.append(self.started)
                run = Run.start(self.started)
                continue
            text = f"text {self.count}"
            thought = Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text)
            entries.append(Drafted(thought=thought))
            run = run.apply(entries[-1])
        assert run is not None
        after = writer.run.version if writer.run else 0
        return Append(run, tuple(entries), after, writer.fence if fence == "own" else None)

    def predicted(self, append: Append) -> type[Exception] | None:
        """How the log has to refuse it; None when it has to take it, or has it."""
        found, end = len(self.entries), append.after + len(append.entries)
        if found != append.after and tuple(self.entries[append.after : end]) == append.entries:
            return None
        if append.fence is not None and append.fence < self.fence:
            return Fenced
        return None if found == append.after else VersionConflict

    def send(self, writer: Writer, append: Append) -> None:
        """Append, and hear the answer that the model predicts."""
        expected = self.predicted(append)
        if expected is not None:
            with pytest.raises(expected):
                self.call(self.carry_out, writer, append)
            return
        self.call(self.carry_out, writer, append)
        if len(self.entries) == append.after:
            self.entries += append.entries
        writer.run, writer.unheard = append.run, None

    @staticmethod
    async def carry_out(writer: Writer, append: Append) -> None:
        await writer.log.append(
            append.run, append.entries, expected_version=append.after, fence=append.fence
        )


async def _entries(log: ThoughtStore, run_id: str) -> list[Entry]:
    run = await load_if_there(log, run_id)
    found: list[Entry] = []
    if run is not None:
        async with aclosing(log.follow(run_id)) as steps:
            async for entry, at in steps:
                found.append(entry)
                if at.version == run.version:
                    break
    return found


def _another(kind: str, log: Any, folder: Path) -> ThoughtStore:
    """The same log as another process opens it."""
    match kind:
        case "sqlite":
            return SQLiteStorage(log.path)
        case "file":
            return FileStorage(log.folder)
        case "redis":
            return RedisStorage(log.connections.address.url, prefix=log.prefix)
        case "redis_mcp":
            return RedisToolStorage(shared_redis_mcp(), prefix=folder.name)
        case _:
            return log.scoped("default")


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2, pytest.param(20, marks=pytest.mark.servers)])
@pytest.mark.parametrize(
    "kind",
    ["memory", "sqlite", "file", "redis", pytest.param("redis_mcp", marks=pytest.mark.servers)],
)
def test_two_writers_crashes_and_lost_replies_never_fork_or_lose_a_run(
    kind: str, seconds: int, tmp_path: Path
) -> None:
    seconds = int(os.environ.get("LOG_PROPERTY_SECONDS", seconds))
    numbers = iter(range(1_000_000))

    def open_logs() -> Callable[[], ThoughtStore]:
        folder = tmp_path / f"log{next(numbers)}x{tmp_path.name}"
        return partial(_another, kind, LOGS[kind].make(folder), folder)

    with start_blocking_portal() as portal:
        machine = type(
            f"{kind}Interleavings",
            (Interleavings,),
            {
                "portal": portal,
                "open_logs": staticmethod(open_logs),
                "deadline": time.monotonic() + 2 * seconds,
            },
        )
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=max(1, round(seconds * EXAMPLES_A_SECOND[kind])),
                stateful_step_count=25,
                deadline=None,
                database=None,
                phases=[Phase.generate],  # what fails by a race cannot be made shorter
                print_blob=True,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )
