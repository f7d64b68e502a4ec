"""Where `--out` and `--in-place` write."""

import os
import stat
import threading
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.cli.document import write_text


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


def test_a_read_only_file_is_refused_on_the_word_of_the_system(
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
