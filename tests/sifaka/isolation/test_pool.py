"""Worker processes: what a piece of work may take, who comes next, and what survives."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

from sifaka.isolation import pool, sharing
from sifaka.isolation.pool import MEMORY, WorkerProcess, run_limited

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True, scope="module")
def _own_workers() -> None:
    """Those of servers in the same process would take some of the work."""
    # Only tests part from their workers: nothing public does it.
    pool._pool.cache_clear()  # pyright: ignore[reportPrivateUsage]


async def test_a_function_runs_in_another_process_and_returns_what_it_returns_here() -> None:
    assert await run_limited(divmod, 17, 5, size=inf, seconds=5) == (3, 2)
    assert await run_limited(os.getpid, size=inf, seconds=5) != os.getpid()


async def test_an_exception_arrives_as_it_is_or_in_words() -> None:
    with pytest.raises(ZeroDivisionError):
        await run_limited(divmod, 1, 0, size=inf, seconds=5)
    with pytest.raises(RuntimeError, match="_Unpicklable"):
        await run_limited(_raises_what_cannot_travel, size=inf, seconds=5)


class _Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("it has", lambda: None)


def _raises_what_cannot_travel() -> None:
    raise _Unpicklable


def _burn() -> None:
    while True:
        pass


@pytest.mark.slow
async def test_work_that_takes_too_long_is_ended_and_the_next_is_done() -> None:
    with pytest.raises(TimeoutError):
        await run_limited(_burn, size=inf, seconds=0.5)
    assert await run_limited(divmod, 17, 5, size=inf, seconds=5) == (3, 2)


def _is_imported(module: str) -> bool:
    return module in sys.modules


def test_a_process_that_starts_again_has_imported_what_is_asked_for() -> None:
    worker = WorkerProcess({"colorsys", "no_such_module"})
    worker.start()
    try:
        question = pickle.dumps((_is_imported, ("colorsys",)))
        assert worker.work(question, seconds=5, memory=MEMORY)
    finally:
        worker.close()


async def test_the_process_after_one_that_was_ended_waits_for_work() -> None:
    with pytest.raises(ChildProcessError):
        await run_limited(_die, size=inf, seconds=5)
    assert await run_limited(_is_imported, __name__, size=inf, seconds=5)


def _hoard() -> int:
    return len(bytearray(4 << 30))


async def test_work_that_takes_too_much_memory_is_ended_and_the_next_is_done() -> None:
    with pytest.raises(MemoryError):
        await run_limited(_hoard, size=inf, seconds=5)
    assert await run_limited(divmod, 17, 5, size=inf, seconds=5) == (3, 2)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def test_a_crash_is_told_and_the_next_work_is_done() -> None:
    with pytest.raises(ChildProcessError):
        await run_limited(_die, size=inf, seconds=5)
    assert await run_limited(divmod, 17, 5, size=inf, seconds=5) == (3, 2)


def _print_and_return(text: str) -> str:
    print(text)  # noqa: T201 - as a foreign library might
    os.write(1, text.encode())
    return text


async def test_what_the_work_prints_does_not_end_up_among_the_answers() -> None:
    assert await run_limited(_print_and_return, "words\n", size=inf, seconds=5) == "words\n"


def _tell_and_burn(path: str) -> None:
    with Path(path).open("w") as pipe:
        pipe.write("begun\n")
        pipe.flush()
        _burn()


async def test_a_cancelled_task_ends_its_process(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    task = asyncio.create_task(run_limited(_tell_and_burn, str(path), size=inf, seconds=60))
    with await asyncio.wait_for(asyncio.to_thread(path.open), 30) as pipe:
        assert pipe.readline() == "begun\n"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The end of the pipe is the end of the process.
        assert await asyncio.wait_for(asyncio.to_thread(pipe.readline), 30) == ""


async def test_one_owner_never_holds_all_workers() -> None:
    with sharing("greedy"):
        greedy = [asyncio.create_task(run_limited(_burn, size=inf, seconds=60)) for _ in range(20)]
    await asyncio.sleep(0)
    try:
        with sharing("modest"):
            assert await asyncio.wait_for(run_limited(divmod, 17, 5, size=inf, seconds=5), 30) == (
                3,
                2,
            )
    finally:
        for task in greedy:
            task.cancel()
        await asyncio.gather(*greedy, return_exceptions=True)


@pytest.mark.slow
async def test_work_that_was_cancelled_costs_the_next_nothing() -> None:
    for _ in range(20):
        task = asyncio.create_task(run_limited(_burn, size=inf, seconds=60))
        await asyncio.sleep(0)
        other = asyncio.create_task(run_limited(divmod, 17, 5, size=inf, seconds=5))
        task.cancel()
        assert await other == (3, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "elsewhere"), [(2, True), (1, False)])
def test_short_texts_of_a_server_take_a_process_where_it_has_a_core(
    cores: int, *, elsewhere: bool
) -> None:
    program = f"""if True:
        import os, sys
        import anyio
        from sifaka.editor.isolated import run_editor
        from sifaka.isolation import spread

        os.cpu_count = lambda: {cores}
        async def main():
            assert await run_editor("short", os.getpid) == os.getpid()
            spread("colorsys")
            assert (await run_editor("short", os.getpid) != os.getpid()) == {elsewhere}
        anyio.run(main)
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
