"""Leases of the processes on one machine."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sifaka_mcp.runs.service import FileLeases, RunKey

pytestmark = pytest.mark.anyio
KEY = RunKey("ann", "run_1")
HOLDER = """
import sys, anyio
from pathlib import Path
from sifaka_mcp.runs.service import FileLeases, RunKey
leases = FileLeases(Path(sys.argv[1]))
anyio.run(lambda: leases.claim(RunKey("ann", "run_1")))
print("held", flush=True)
sys.stdin.read()
"""


async def test_a_lease_is_held_until_it_is_let_go(tmp_path: Path) -> None:
    mine, others = FileLeases(tmp_path / "running"), FileLeases(tmp_path / "running")
    assert not await others.held(KEY)
    for _ in range(2):
        await mine.claim(KEY)
        assert await mine.held(KEY)
        assert await others.held(KEY)
    assert not await others.held(RunKey("bob", "run_1"))

    await mine.let_go(KEY)
    await mine.let_go(KEY)

    assert not await mine.held(KEY)
    assert not await others.held(KEY)
    assert list((tmp_path / "running").iterdir()) == []


@contextmanager
def holder_in(folder: Path) -> Generator[subprocess.Popen[str]]:
    """Another process that holds the lease."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder


@pytest.mark.slow
async def test_the_lease_of_a_process_that_is_killed_is_free(tmp_path: Path) -> None:
    leases = FileLeases(tmp_path)
    with holder_in(tmp_path) as holder:
        assert await leases.held(KEY)
        holder.kill()
        holder.wait(timeout=100)
        assert not await leases.held(KEY)


async def test_without_a_folder_to_write_to_nothing_is_held(tmp_path: Path) -> None:
    (tmp_path / "running").write_text("not a folder", encoding="utf-8")
    leases = FileLeases(tmp_path / "running")
    await leases.claim(KEY)
    assert not await leases.held(KEY)
    await leases.let_go(KEY)
