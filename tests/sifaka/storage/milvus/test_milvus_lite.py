"""Milvus Lite: a folder that one process has open."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.run import Run
from sifaka.storage.milvus import MilvusIndex

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
CHILD = """
import sys, anyio
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.milvus import MilvusIndex

async def main(url):
    index = MilvusIndex(url)
    started = Started(run_id="the-childs")
    await index.put(Run.start(started).apply(Drafted(thought=Thought(run_id="the-childs"))))
    print("stored", flush=True)
    sys.stdin.read()

anyio.run(main, sys.argv[1])
"""


def child(url: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
async def test_a_second_process_is_told_who_has_the_folder_and_loses_nothing(url: str) -> None:
    with child(url) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "stored\n"
            index = MilvusIndex(url)
            with pytest.raises(StorageError, match="another process has") as caught:
                await index.thoughts("the-childs")
            assert not isinstance(caught.value, ConfigurationError)
            (health,) = await index.health()
            assert not health.works
        finally:
            process.kill()  # nothing is closed, nothing is flushed
    # It was not open, so it can be opened now.
    assert len(await index.thoughts("the-childs")) == 1
    await index.aclose()


@pytest.mark.slow
async def test_nothing_but_what_was_asked_for_is_printed(url: str) -> None:
    with child(url) as process:
        out, err = process.communicate("", timeout=60)
    assert (out, err, process.returncode) == ("stored\n", "", 0)


@pytest.mark.slow
async def test_a_closed_store_releases_the_folder_after_its_last_user(url: str, keep: Keep) -> None:
    first, second = MilvusIndex(url), MilvusIndex(url)
    run = await keep(first, "x")
    assert await second.thoughts(run.run_id) == run.thoughts
    await first.aclose()
    assert await second.thoughts(run.run_id) == run.thoughts
    with pytest.raises(StorageError, match="is closed"):
        await first.thoughts(run.run_id)
    await second.aclose()

    with child(url) as process:
        out, _ = process.communicate("", timeout=60)
    assert out == "stored\n"


async def test_a_file_is_not_taken_for_a_folder(url: str, tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("notes")
    index = MilvusIndex(url)
    with pytest.raises(ConfigurationError, match="is a file"):
        await index.search("x", limit=1)
    await index.aclose()
    assert (tmp_path / "runs.db").read_text() == "notes"


async def test_the_folder_is_for_its_owner_only(url: str, tmp_path: Path, keep: Keep) -> None:
    index = MilvusIndex(url)
    await keep(index, "x")
    await index.aclose()
    assert (tmp_path / "runs.db").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_who_uses_other_stores_never_imports_pymilvus(tmp_path: Path) -> None:
    script = (
        "import sys, anyio\nfrom pathlib import Path\nfrom sifaka.storage import open_store\n"
        f"home = Path({str(tmp_path)!r})\n"
        "async def main():\n"
        "    store = open_store('sqlite:', home=home)\n"
        "    await store.recent(limit=1)\n    await store.aclose()\n"
        "anyio.run(main)\n"
        "open_store('milvus:///x.db', home=home)\n"
        "print(sorted({'pymilvus', 'milvus_lite', 'numpy', 'grpc'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_the_environment_is_not_filled_from_a_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_A_FILE=1\n")
    script = (
        "import os\nfrom sifaka.storage.milvus.client import pymilvus\n"
        "pymilvus()\nprint('FROM_A_FILE' in os.environ)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
