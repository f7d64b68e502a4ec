"""The stores that have a queue of runs, the runs that stay in their process, and its leases."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from sifaka.record.entries import ChainConfig, Started
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.runs.service import FileLeases, RunKey, Runs, Ticket
from sifaka_mcp.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("store", "place"),
    [
        ("memory:", None),
        ("sqlite:", None),
        ("milvus+http://host:19530", None),
        ("redis://localhost:6379/0", ("redis://localhost:6379/0", "sifaka:run:{ann}")),
        ("memory:,redis://host?prefix=p,milvus:///m.db", ("redis://host", "p:run:{ann}")),
        ("sqlite:,milvus+http://localhost", None),
    ],
)
def test_where_redis_decides_about_runs_it_has_their_queue(
    store: str, place: tuple[str, str] | None, tmp_path: Path
) -> None:
    settings = Settings(store=store, home=tmp_path, tenant="ann")
    assert Lifespan(settings, warm_up=lambda: None).queue_place == place


def test_a_server_that_only_reads_takes_no_run(tmp_path: Path) -> None:
    settings = Settings(store="redis://localhost", home=tmp_path, read_only=True)
    assert Lifespan(settings, warm_up=lambda: None).queue_place is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("config", "needed"),
    [
        (ChainConfig(model="openai:gpt-5"), False),
        (ChainConfig(model="host"), True),
        (ChainConfig(model="openai:gpt-5", fallback_models=("host", "caller")), True),
        (ChainConfig(model="auto", judge_model="host"), True),
        (ChainConfig(critics=({"type": "self_refine", "model": "host"},)), True),
    ],
)
async def test_a_run_that_asks_a_host_needs_its_client(config: ChainConfig, needed: bool) -> None:
    run = Run.start(Started(config=config))
    async with anyio.create_task_group() as group:
        runs = Runs(group, most=1)
        given = Ticket(runs=runs, run=run, store=MemoryStorage(), key=RunKey("ann", run.run_id))
        assert given.needs_host == needed


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
