"""The files that commands read and write, and a home that may only be read."""

import os
import stat
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from mcp import Client

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.storage import SQLiteStorage
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.cli.document import TextFile, read_text_file, write_text, write_text_file
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call
from tests.stubs.commands import sifaka_process

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> TextFile:
    path = tmp_path / "notes.md"
    path.write_text("old")
    return read_text_file(path)


def test_a_file_that_became_a_link_is_left_alone(file: TextFile) -> None:
    other = file.path.with_name("other.md")
    other.write_text("old")
    file.path.unlink()
    file.path.symlink_to(other)
    with pytest.raises(ConfigurationError, match="leads to another file now"):
        write_text_file(file, "new")
    assert other.read_text() == "old"


def test_a_byte_order_mark_and_the_mode_stay(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"\xef\xbb\xbfold")
    path.chmod(0o640)
    file = read_text_file(path)
    assert file.text == "old"
    write_text_file(file, "new")
    assert path.read_bytes() == b"\xef\xbb\xbfnew"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    real.write_text("old")
    link.symlink_to("real.md")
    write_text(str(link), "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_pipe_stays_a_pipe_and_its_reader_gets_the_text(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(str(pipe), "new")
    reader.join(timeout=100)
    assert got == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file.md"
    file.write_text("old")
    file.chmod(0o444)
    with pytest.raises(ConfigurationError, match="is read-only"):
        write_text(str(file), "new")
    assert file.read_text() == "old"


def test_a_read_only_file_is_refused_as_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file.md"
    file.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType] # as the system answers to others than root
    with pytest.raises(ConfigurationError, match="is read-only"):
        write_text(str(file), "new")
    assert file.read_text() == "old"


def test_no_other_file_is_touched_and_none_is_left(tmp_path: Path) -> None:
    neighbour = tmp_path / ".file.md.sifaka"
    neighbour.write_text("somebody's own")
    write_text(str(tmp_path / "file.md"), "new")
    assert neighbour.read_text() == "somebody's own"
    assert {p.name for p in tmp_path.iterdir()} == {".file.md.sifaka", "file.md"}


def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(str(tmp_path / "file.md"), "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file.md").stat().st_mode) == 0o640


def test_a_loop_of_links_and_a_name_that_is_none_are_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for name in (str(loop), "a\0b"):
        with pytest.raises(ConfigurationError, match="choose another --out"):
            write_text(name, "new")


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
        run_id = (await call(client, "improve_text", text="It is is so."))["run_id"]
    with only_read(home):
        for command in (
            ["history", run_id],
            ["search", "so"],
            ["validate", "-", "--max-words", "9"],
        ):
            done = sifaka_process(tmp_path, *command, given="It is so.")
            assert done.returncode == 0, done.stderr
            assert command[0] == "validate" or run_id in done.stdout
        async with Client(SifakaServer(Settings(home=home))) as client:
            assert (await call(client, "get_thought_history", run_id=run_id))["thoughts"]
            assert (await client.call_tool("improve_text", {"text": "Another."})).is_error


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
