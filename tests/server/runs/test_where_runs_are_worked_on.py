"""The stores that have a queue of runs, and the runs that stay in their process."""

from pathlib import Path

import anyio
import pytest

from sifaka.record.entries import ChainConfig, Started
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka_mcp.lifespan import Lifespan
from sifaka_mcp.runs.service import Runs, Ticket
from sifaka_mcp.settings import Settings


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
        given = Ticket(runs=runs, run=run, store=MemoryStorage(), tenant="ann")
        assert given.needs_host == needed
