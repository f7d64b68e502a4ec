"""`sifaka forget`, on real files."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from sifaka.record.entries import Drafted, Entry, Started, Stopped
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import open_store
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.cli import run
from sifaka_mcp.cli.runs import parse_age, show_age
from tests.stubs.servers import environment


def code_of(*arguments: str) -> int:
    try:
        return run(["forget", *arguments])
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else -1


async def keep(store: ThoughtStore, days: float) -> Run:
    at = datetime.now(UTC) - timedelta(days=days)
    run_id = f"run_{days}"
    entries: Sequence[Entry] = (
        Started(run_id=run_id, at=at),
        Drafted(thought=Thought(run_id=run_id, text=f"From {days} days ago. " + "x" * 9000), at=at),
        Stopped(status="done", stop_reason="passed", at=at),
    )
    await store.append(Run.replay(entries), entries, expected_version=0)
    return await store.load(run_id)


async def ids_in(url: str, home: Path, limit: int = 50) -> list[str]:
    store = open_store(url, home=home)
    page = await store.recent(limit=limit)
    await store.aclose()
    return [line.run_id for line in page.runs]


def listed(here: Path, url: str = "sqlite:") -> list[str]:
    return anyio.run(ids_in, url, here / "home")


@pytest.fixture
def filled(here: Path) -> Path:
    """A store with runs of 1, 10 and 100 days."""

    async def fill() -> None:
        store = open_store("sqlite:", home=here / "home")
        for days in (100, 10, 1):
            await keep(store, days)
        await store.aclose()

    anyio.run(fill)
    return here


def test_without_yes_it_shows_what_would_go_and_changes_nothing(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("--older-than", "9d") == 0

    lines = capsys.readouterr().out.splitlines()
    for line, run_id, age in zip(lines, ("run_10", "run_100"), (" 10d", "100d"), strict=False):
        words = rf"{run_id}  {age}  too old +From {age.strip()[:-1]} days ago\. x+"
        assert re.fullmatch(words, line)
    assert lines[2] == "would be forgotten: 2 runs — what stays: 1 run"
    assert lines[3] == "nothing was changed: add --yes to do it"
    assert listed(filled) == ["run_1", "run_10", "run_100"]


def test_with_yes_it_is_done_once(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("--keep", "1", "--yes") == 0
    assert "\nforgotten: 2 runs — what stays" in capsys.readouterr().out
    assert listed(filled) == ["run_1"]
    assert code_of("--keep", "1", "--yes") == 0
    assert capsys.readouterr().out.startswith("forgotten: 0 runs — what stays: 1 run")


@pytest.mark.parametrize(
    ("limit", "stay"),
    [
        (["--older-than", "9d"], ["run_1"]),
        (["--keep", "2"], ["run_1", "run_10"]),
        (["--keep", "2", "--older-than", "36h"], ["run_1"]),
        (["--keep", "0"], []),
    ],
)
def test_what_passes_every_limit_stays(filled: Path, limit: list[str], stay: list[str]) -> None:
    assert code_of(*limit, "--yes") == 0
    assert listed(filled) == stay


def test_with_to_the_runs_are_in_the_other_store(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("--older-than", "9d", "--to", "file:") == 0
    assert "would be moved to 'file:': 2 runs" in capsys.readouterr().out
    assert not (filled / "home" / "runs").exists()

    assert code_of("--older-than", "9d", "--to", "file:", "--yes") == 0
    assert "\nmoved to 'file:': 2 runs" in capsys.readouterr().out
    assert listed(filled) == ["run_1"]
    assert listed(filled, "file:") == ["run_10", "run_100"]
    assert run(["history", "run_100", "--store", "file:", "--text"]) == 0
    assert "From 100 days ago." in capsys.readouterr().out


def test_a_run_that_cannot_be_moved_stays_and_is_told(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def another() -> None:
        store = open_store("file:", home=filled / "home")
        await keep(store, 10)
        await store.aclose()

    anyio.run(another)

    assert code_of("--keep", "1", "--to", "file:", "--yes", "--json") == 1

    report = json.loads(capsys.readouterr().out)
    errors = {line["run_id"]: line["error"] for line in report["runs"]}
    assert "another run 'run_10'" in errors["run_10"]
    assert errors["run_100"] is None
    assert (report["done"], report["kept_runs"]) == (True, 2)
    assert listed(filled) == ["run_1", "run_10"]

    assert code_of("--keep", "1", "--to", "file:", "--yes") == 1
    assert "run_10  stays: there is another run" in capsys.readouterr().out


def test_the_json_says_all_about_each_run(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("--keep", "2", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    (line,) = report["runs"]
    assert (line["run_id"], line["reason"], line["status"]) == (
        *("run_100", "beyond the number", "done"),
    )
    assert (report["done"], report["to"], report["kept_runs"]) == (False, None, 2)


def test_only_the_tenants_runs_are_forgotten(filled: Path) -> None:
    assert code_of("--keep", "0", "--yes", "--tenant", "guest") == 0
    assert len(listed(filled)) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give --older-than or --keep"),
        (["--yes"], "give --older-than or --keep"),
        (["--older-than", "90"], "'90' is not an age such as 90d, 12h or 30m"),
        (["--older-than", "-1d"], "--older-than"),
        (["--older-than", "1 day"], "'1 day' is not an age"),
        (["--keep", "-1"], "--keep"),
        (["--keep", "some"], "'some' is not a whole number"),
        (["--keep", "1", "--to", "sqlite:"], "--to is the store that the runs are in"),
        (["--keep", "1", "--to", "ftp://me:secret@host"], "no store can be opened by"),
        (["--keep", "1", "--to", "file:///text.md", "--yes"], "Not a directory"),
    ],
)
def test_a_wrong_argument_is_one_line(
    filled: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert code_of(*arguments) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert "secret" not in shown.err
    assert shown.out == ""
    assert len(listed(filled)) == 3


def test_ages_are_read_and_shown_as_people_write_them() -> None:
    assert [parse_age(age) for age in ("90d", "12h", "30m", "0s")] == [
        timedelta(days=90),
        timedelta(hours=12),
        timedelta(minutes=30),
        timedelta(0),
    ]
    ages = [timedelta(days=95, hours=3), timedelta(hours=2), timedelta(seconds=61), timedelta(-1)]
    assert [show_age(age) for age in ages] == ["95d", "2h", "1m", "0s"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:hunter2@host/0", "redis://***@host/0"),
        ("elasticsearch+http://host?api_key=hunter2&ttl=7d", "elasticsearch+http://host"),
        ("file:,milvus+http://:hunter2@host?ttl=7d", "file:,milvus+http://***@host"),
        ("redis+mcp:uvx redis-mcp-server --password hunter2", "redis+mcp:uvx …"),
    ],
)
@pytest.mark.parametrize("how", [[], ["--json"]])
def test_the_other_store_is_named_without_its_secrets(
    filled: Path, capsys: pytest.CaptureFixture[str], url: str, shown: str, how: list[str]
) -> None:
    assert code_of("--keep", "3", "--to", url, *how) == 0

    out = capsys.readouterr().out
    assert "hunter2" not in out
    assert (json.loads(out)["to"] if how else out).startswith(
        shown if how else f"would be moved to {shown!r}: 0 runs"
    )


def test_the_store_itself_under_another_name_is_no_other_store(
    filled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alias = filled / "alias.db"
    alias.symlink_to(filled / "home" / "sifaka.db")

    for url in (f"sqlite:///{filled}/home/../home/sifaka.db", f"sqlite:///{alias}"):
        assert code_of("--keep", "0", "--to", url, "--yes") == 1
        assert "the archive is the store" in capsys.readouterr().out
        assert listed(filled) == ["run_1", "run_10", "run_100"]


@pytest.mark.slow
def test_an_interrupt_leaves_every_run_in_one_store_or_in_both(filled: Path) -> None:
    async def fill() -> None:
        store = open_store("sqlite:", home=filled / "home")
        for number in range(200):
            await keep(store, 200 + number)
        await store.aclose()

    anyio.run(fill)
    before = set(anyio.run(ids_in, "sqlite:", filled / "home", 500))
    command = [
        sys.executable,
        "-m",
        "sifaka_mcp.cli",
        "forget",
        "--keep",
        "1",
        "--to",
        "file:",
        "--yes",
    ]
    with subprocess.Popen(
        command,
        cwd=filled,
        env=environment(filled / "home", PYTHONPATH=str(Path(__file__).parents[3])),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        moved = filled / "home" / "runs" / "default"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and len(list(moved.glob("*.jsonl"))) < 5:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)

    assert process.returncode == 130
    assert "Traceback" not in out + err
    left, gone = (set(anyio.run(ids_in, url, filled / "home", 500)) for url in ("sqlite:", "file:"))
    assert left | gone == before
    assert len(left) > 1
    assert code_of("--keep", "1", "--to", "file:", "--yes") == 0
    assert listed(filled) == ["run_1"]
    assert len(anyio.run(ids_in, "file:", filled / "home", 500)) == len(before) - 1
