"""Which leases suit which store."""

from pathlib import Path

import pytest

from sifaka.record.entries import ChainConfig, Started
from sifaka.record.run import Run
from sifaka.storage import MemoryStorage
from sifaka_mcp.runs import Leases, NoLeases, RunKey, open_leases
from sifaka_mcp.runs.files import FileLeases
from sifaka_mcp.runs.switch import DeadManSwitches
from sifaka_mcp.runs.work import Assignment


async def nobody(key: RunKey, deaths: int) -> None:
    raise AssertionError(key, deaths)


@pytest.mark.parametrize(
    ("store", "kind"),
    [
        ("memory:", NoLeases),
        ("sqlite:", FileLeases),
        ("file:", FileLeases),
        ("milvus+http://host:19530", FileLeases),
        ("redis://localhost:6379/0", DeadManSwitches),
        ("REDISS://localhost", DeadManSwitches),
        ("memory:,redis://localhost,milvus:", DeadManSwitches),
        # Redis is a copy there: what it holds decides nothing.
        ("sqlite:,redis://localhost", FileLeases),
    ],
)
@pytest.mark.anyio
async def test_where_redis_decides_about_runs_others_take_them_over(
    store: str, kind: type[Leases], tmp_path: Path
) -> None:
    leases = open_leases(store, home=tmp_path, tenant="ann", seconds=15, take_over=nobody)
    assert isinstance(leases, kind)
    assert not leases.passed_on, "nothing is served yet"


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
def test_a_run_that_asks_a_host_needs_its_client(config: ChainConfig, needed: bool) -> None:
    run = Run.start(Started(config=config))
    given = Assignment(run=run, store=MemoryStorage(), tenant="ann")
    assert given.needs_host == needed
