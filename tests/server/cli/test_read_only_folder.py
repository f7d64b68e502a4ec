"""A home folder that may only be read, as on a read-only mount."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from mcp import Client

from sifaka.errors import StorageError
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage import SQLiteStorage
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.servers import environment

pytestmark = pytest.mark.anyio


@contextmanager
def only_read(folder: Path) -> Generator[None]:
    """Within it a folder and its files cannot be written; for root that takes a mount."""
    if os.name != "posix":
        pytest.skip("needs the rights of POSIX")
    if os.geteuid():
        for path in (*folder.iterdir(), folder):
            path.chmod(path.stat().st_mode & 0o555)
        try:
            yield
        finally:
            folder.chmod(0o700)
        return
    mount = ["mount", "--bind", str(folder), str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("root may write everywhere, and may not mount here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slow
async def test_commands_and_tools_read_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with Client(SifakaServer(Settings(home=home))) as client:
        made = await client.call_tool("improve_text", {"text": "It is is so."})
        assert made.structured_content is not None
        run_id = made.structured_content["run_id"]
    with only_read(home):
        told = sifaka(home, "history", run_id)
        assert told.returncode == 0, told.stderr
        assert run_id in told.stdout
        found = sifaka(home, "search", "so")
        assert (found.returncode, run_id in found.stdout) == (0, True), found.stderr
        checked = sifaka(home, "validate", "-", "--max-words", "10")
        assert checked.returncode == 0, checked.stderr
        async with Client(SifakaServer(Settings(home=home))) as client:
            history = await client.call_tool("get_thought_history", {"run_id": run_id})
            assert history.structured_content is not None
            assert history.structured_content["thoughts"]
            refused = await client.call_tool("improve_text", {"text": "Another."})
            assert refused.is_error


async def test_what_is_only_in_the_log_of_another_process_is_read_or_told(tmp_path: Path) -> None:
    path = tmp_path / "store" / "sifaka.db"
    writer, run = SQLiteStorage(path), Run.start(Started())
    await writer.append(run, [Started(run_id=run.run_id)], expected_version=0)
    with only_read(path.parent):
        reader = SQLiteStorage(path)
        assert (await reader.load(run.run_id)).run_id == run.run_id
        with pytest.raises(StorageError, match="cannot be written"):
            await reader.delete(run.run_id)
        await reader.aclose()
    copied = tmp_path / "copied" / "sifaka.db"
    copied.parent.mkdir()
    for end in ("", "-wal"):
        copied.with_name(f"sifaka.db{end}").write_bytes(
            path.with_name(f"sifaka.db{end}").read_bytes()
        )
    with only_read(copied.parent):
        reader = SQLiteStorage(copied)
        with pytest.raises(StorageError, match="its last changes are in its log"):
            await reader.load(run.run_id)
        await reader.aclose()
    with suppress(StorageError):
        await writer.aclose()


def sifaka(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """What a command said."""
    return subprocess.run(
        [sys.executable, "-m", "sifaka_mcp.cli", *arguments],
        input="It is so.",
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
