"""`sifaka forget`, on real files."""

import re
import signal
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from sifaka._internal.durations import show_duration
from sifaka.record.run import Run
from sifaka.storage import open_store
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.cli.options import parse_age
from tests.stubs.commands import Sifaka, started
from tests.stubs.runs import aged


async def keep(store: ThoughtStore, days: float) -> Run:
    text = f"From {days} days ago. " + "x" * 9000
    return await aged(store, f"run_{days}", days=days, text=text, now=datetime.now(UTC))


async def ids_in(url: str, home: Path, limit: int = 50) -> list[str]:
    store = open_store(url, home=home)
    page = await store.recent(limit=limit)
    await store.aclose()
    return [line.run_id for line in page.runs]


def listed(here: Path, url: str = "sqlite:") -> list[str]:
    return anyio.run(ids_in, url, here / "home")


async def fill(url: str, home: Path, ages: Iterable[float]) -> None:
    store = open_store(url, home=home)
    for days in ages:
        await keep(store, days)
    await store.aclose()


@pytest.fixture
def filled(here: Path) -> Path:
    """A store with runs of 1, 10 and 100 days."""
    anyio.run(fill, "sqlite:", here / "home", (100, 10, 1))
    return here


def test_without_yes_it_shows_what_would_go(sifaka: Sifaka, filled: Path) -> None:
    lines = sifaka.prints("forget", "--older-than", "9d").splitlines()
    for line, run_id, age in zip(lines, ("run_10", "run_100"), (" 10d", "100d"), strict=False):
        words = rf"{run_id}  {age}  too old +From {age.strip()[:-1]} days ago\. x+"
        assert re.fullmatch(words, line)
    assert lines[2] == "would be forgotten: 2 runs — what stays: 1 run"
    assert lines[3] == "nothing was changed: add --yes to do it"
    report = sifaka.json("forget", "--keep", "2")
    (line,) = report["runs"]
    assert (line["run_id"], line["reason"]) == ("run_100", "beyond the number")
    assert (line["status"], report["done"], report["to"], report["kept_runs"]) == (
        *("done", False, None, 2),
    )
    sifaka.prints("forget", "--keep", "0", "--yes", "--tenant", "guest")
    assert listed(filled) == ["run_1", "run_10", "run_100"], "nor are runs of others"


def test_with_yes_it_is_done_once(sifaka: Sifaka, filled: Path) -> None:
    forget = ("forget", "--keep", "1", "--yes")
    assert "\nforgotten: 2 runs — what stays" in sifaka.prints(*forget)
    assert listed(filled) == ["run_1"]
    assert sifaka.prints(*forget).startswith("forgotten: 0 runs — what stays: 1 run")


@pytest.mark.parametrize(
    ("limit", "stay"),
    [
        (["--older-than", "9d"], ["run_1"]),
        (["--keep", "2"], ["run_1", "run_10"]),
        (["--keep", "2", "--older-than", "36h"], ["run_1"]),
        (["--keep", "0"], []),
    ],
)
def test_what_passes_limits_stays(
    sifaka: Sifaka, filled: Path, limit: list[str], stay: list[str]
) -> None:
    sifaka.prints("forget", *limit, "--yes")
    assert listed(filled) == stay


def test_with_to_the_runs_are_in_the_other_store(sifaka: Sifaka, filled: Path) -> None:
    forget = ("forget", "--older-than", "9d", "--to", "file:")
    assert "would be moved to 'file:': 2 runs" in sifaka.prints(*forget)
    assert not (filled / "home" / "runs").exists()
    assert "\nmoved to 'file:': 2 runs" in sifaka.prints(*forget, "--yes")
    assert listed(filled) == ["run_1"]
    assert listed(filled, "file:") == ["run_10", "run_100"]
    kept = sifaka.prints("history", "run_100", "--store", "file:", "--text")
    assert "From 100 days ago." in kept


def test_a_run_that_cannot_be_moved_stays_and_is_told(sifaka: Sifaka, filled: Path) -> None:
    anyio.run(fill, "file:", filled / "home", [10])
    forget = ("forget", "--keep", "1", "--to", "file:", "--yes")
    report = sifaka.json(*forget, code=1)
    errors = {line["run_id"]: line["error"] for line in report["runs"]}
    assert "another run 'run_10'" in errors["run_10"]
    assert errors["run_100"] is None
    assert (report["done"], report["kept_runs"]) == (True, 2)
    assert listed(filled) == ["run_1", "run_10"]
    assert "run_10  stays: there is another run" in sifaka.prints(*forget, code=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give --older-than or --keep"),
        (["--older-than", "90"], "'90' is not an age such as 90d, 12h or 30m"),
        (["--older-than", "-1d"], "--older-than"),
        (["--keep", "-1"], "--keep"),
        (["--keep", "some"], "'some' is not a whole number"),
        (["--keep", "1", "--to", "sqlite:"], "--to is the store that the runs are in"),
        (["--keep", "1", "--to", "ftp://me:secret@host"], "no store can be opened by"),
        (["--keep", "1", "--to", "file:///text.md", "--yes"], "Not a directory"),
    ],
)
def test_a_wrong_argument_is_one_line(
    sifaka: Sifaka, filled: Path, arguments: list[str], said: str
) -> None:
    told = sifaka.refuses("forget", *arguments)
    assert said in told
    assert "secret" not in told
    assert len(listed(filled)) == 3


def test_ages_are_read_and_shown_as_people_write_them() -> None:
    assert [parse_age(age) for age in ("90d", "12h", "30m", "0s")] == [
        timedelta(days=90),
        timedelta(hours=12),
        timedelta(minutes=30),
        timedelta(0),
    ]
    ages = [timedelta(days=95, hours=3), timedelta(hours=2), timedelta(seconds=61), timedelta(-1)]
    assert [show_duration(age) for age in ages] == ["95d", "2h", "1m", "0s"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:hunter2@host/0", "redis://***@host/0"),
        ("elasticsearch+http://host?api_key=hunter2&ttl=7d", "elasticsearch+http://host"),
        ("file:,milvus+http://:hunter2@host?ttl=7d", "file:,milvus+http://***@host"),
        ("redis+mcp:uvx redis-mcp-server --password hunter2", "redis+mcp:uvx …"),
    ],
)
@pytest.mark.usefixtures("filled")
def test_the_other_store_is_named_without_secrets(sifaka: Sifaka, url: str, shown: str) -> None:
    forget = ("forget", "--keep", "3", "--to", url)
    out = sifaka.prints(*forget)
    assert out.startswith(f"would be moved to {shown!r}: 0 runs")
    told = sifaka.json(*forget)
    assert told["to"].startswith(shown)
    assert "hunter2" not in f"{out}{told}"


def test_the_store_under_another_name_is_no_other_store(sifaka: Sifaka, filled: Path) -> None:
    alias = filled / "alias.db"
    alias.symlink_to(filled / "home" / "sifaka.db")
    for url in (f"sqlite:///{filled}/home/../home/sifaka.db", f"sqlite:///{alias}"):
        told = sifaka.prints("forget", "--keep", "0", "--to", url, "--yes", code=1)
        assert "the archive is the store" in told
        assert listed(filled) == ["run_1", "run_10", "run_100"]


@pytest.mark.slow
def test_an_interrupt_leaves_every_run_in_a_store(sifaka: Sifaka, filled: Path) -> None:
    home, forget = filled / "home", ("forget", "--keep", "1", "--to", "file:", "--yes")
    anyio.run(fill, "sqlite:", home, range(200, 400))
    before = set(anyio.run(ids_in, "sqlite:", home, 500))
    with started(filled, *forget) as process:
        moved = home / "runs" / "default"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and len(list(moved.glob("*.jsonl"))) < 5:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert b"Traceback" not in out + err
    left, gone = (set(anyio.run(ids_in, url, home, 500)) for url in ("sqlite:", "file:"))
    assert left | gone == before
    assert len(left) > 1
    sifaka.prints(*forget)
    assert listed(filled) == ["run_1"]
    assert len(anyio.run(ids_in, "file:", home, 500)) == len(before) - 1
