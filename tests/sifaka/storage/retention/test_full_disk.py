"""Forgetting runs that are files is what helps a full disk, so it needs no room on it."""

import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

from sifaka.record.run import Run
from sifaka.storage import open_store
from sifaka.storage.retention import Policy, carry_out, plan

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
def disk() -> Generator[Path]:
    """A disk of 6 MB, if this system can make one."""
    with tempfile.TemporaryDirectory() as name:
        mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", name]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root can make a disk")
        yield Path(name)
        subprocess.run(["umount", name], check=True)


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def texts_of(disk: Path) -> list[bytes]:
    return [each.read_bytes() for each in disk.rglob("*") if each.is_file()]


async def test_runs_are_forgotten_on_a_disk_without_a_free_byte(disk: Path, keep: Keep) -> None:
    url = f"file:///{disk}/runs"
    store = open_store(url, home=disk)
    for number in range(40):
        await keep(store, f"run_{number}", days=number, text=f"zebra{number} " * 3_000)
    await store.catch_up()
    await store.aclose()
    fill(disk)

    store = open_store(url, home=disk)
    outcome = await carry_out(store, await plan(store, Policy(max_runs=1)))
    assert (len(outcome.gone), outcome.failed) == (39, ())
    assert [run.run_id for run in (await store.recent(limit=50)).runs] == ["run_0"]
    await store.aclose()
    assert [each for each in texts_of(disk) if b"zebra7" in each] == []


async def test_what_is_forgotten_makes_room_for_new_runs(disk: Path, keep: Keep) -> None:
    url = f"file:///{disk}/runs"
    store = open_store(url, home=disk)
    await keep(store, "old", days=1, text="zebra " * 30_000)
    await store.aclose()
    fill(disk)

    store = open_store(url, home=disk)
    await carry_out(store, await plan(store, Policy(max_runs=0)))
    new = await keep(store, "new", days=0, text="A short text.")
    assert await store.load("new") == new
    await store.aclose()
