"""The opener of files below a folder that somebody else has filled."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sifaka._internal.safe_open import opened, opened_by_names, read_beneath

TRIED = 20_000
FLIP = """
import os, sys
real, away, elsewhere = "turn", "away", sys.argv[1]
print(flush=True)
while True:
    os.rename(real, away)
    os.symlink(elsewhere, real)
    os.unlink(real)
    os.rename(away, real)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "turn").mkdir(parents=True)
    (folder / "turn" / "a.md").write_text("inside")
    (folder / ".env").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.md").write_text("outside")
    return folder


@contextmanager
def flipped(root: Path) -> Generator[None]:
    """`turn` is by turns a folder, nothing, and a link to elsewhere."""
    command = [sys.executable, "-c", FLIP, str(root.parent / "elsewhere")]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def links(root: Path) -> None:
    (root / "relative").symlink_to("turn")
    (root / "absolute.md").symlink_to(root / "turn" / "a.md")
    (root / "turn" / "up").symlink_to("../relative/../turn")
    (root / "out.md").symlink_to("../elsewhere/a.md")
    (root / "out").symlink_to(root.parent / "elsewhere")
    (root / "above").symlink_to("turn/../../root")
    (root / "loop").symlink_to("loop/a.md")
    (root / "hidden.md").symlink_to(".env")
    os.mkfifo(root / "pipe")
    (root / "device").symlink_to("/dev/zero")


@pytest.mark.parametrize("name", ["turn/a.md", "relative/a.md", "absolute.md", "turn/up/a.md"])
def test_links_that_stay_inside_are_followed(root: Path, name: str) -> None:
    links(root)
    assert read_beneath(root / name, 10, root) == b"inside"
    (root.parent / "alias").symlink_to(root)
    assert read_beneath(root.parent / "alias" / name, 10, root.parent / "alias") == b"inside"
    with opened(root / name, root) as file:
        assert file.real == root / "turn" / "a.md"


REFUSED = ["out.md", "out/a.md", "loop", "loop/a.md", "pipe", "device", "turn", "."]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", [*REFUSED, "../elsewhere/a.md", "none", "above/turn/a.md"])
def test_what_leads_out_or_is_no_file_is_refused_at_once(root: Path, name: str) -> None:
    links(root)
    with pytest.raises(OSError):  # noqa: PT011 - of several kinds
        read_beneath(root / name, 10, root)


@pytest.mark.parametrize("name", [*REFUSED, "none"])
def test_where_only_names_can_be_opened_the_same_is_refused(root: Path, name: str) -> None:
    links(root)
    with opened_by_names(["turn", "a.md"], [root]) as file:
        assert file.stream.read() == b"inside"
    with pytest.raises(OSError), opened_by_names([name], [root]):  # noqa: PT011 - of several kinds
        pass


def test_hidden_files_are_read_only_where_that_is_wanted_and_as_much_as_is_allowed(
    root: Path,
) -> None:
    links(root)
    assert read_beneath(root / ".env", 10, root) == b"secret"
    for name in (".env", "hidden.md"):
        with pytest.raises(PermissionError, match="is hidden"):
            read_beneath(root / name, 10, root, hidden=False)
    assert read_beneath(root / ".env", 6, root) == b"secret"
    with pytest.raises(OSError, match="larger than 5 bytes"):
        read_beneath(root / ".env", 5, root)


def test_folders_in_folders_and_chains_of_links_have_a_bound(root: Path) -> None:
    (root / "0").symlink_to("turn/a.md")
    for number in range(1, 41):
        (root / str(number)).symlink_to(str(number - 1))
    assert read_beneath(root / "39", 10, root) == b"inside"
    with pytest.raises(OSError, match="symbolic links"):
        read_beneath(root / "40", 10, root)
    deep = root.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("deep")
    with pytest.raises(OSError, match="too long"):
        read_beneath(deep / "a.md", 10, root)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_no_read_comes_from_outside_while_a_folder_and_a_link_change_places(root: Path) -> None:
    read: set[bytes] = set()
    tried = refused = 0
    with flipped(root):
        while tried < TRIED or not (read and refused):
            tried += 1
            try:
                read.add(read_beneath(root / "turn" / "a.md", 10, root))
            except OSError:
                refused += 1
    assert read == {b"inside"}
