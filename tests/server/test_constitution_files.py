"""Constitutions by the names that clients give."""

import os
from functools import partial
from pathlib import Path

import pytest
from mcp import Client

from sifaka.errors import ConfigurationError
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.constitutions import FOLDER, read_constitution
from sifaka_mcp.settings import Settings
from tests.stubs.calls import refusal

pytestmark = pytest.mark.anyio


def test_a_file_of_the_folder_is_read_and_others_are_told(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    (folder / "folder.yaml").mkdir(parents=True)
    (folder / "own.yaml").write_text("content")
    read = partial(read_constitution, tmp_path)
    assert read("own.yaml") == "content"
    for missing in ("other.yaml", "folder.yaml"):
        with pytest.raises(ConfigurationError, match="there is no constitution") as error:
            read(missing)
        assert error.value.suggestion == "there is: own.yaml"


@pytest.mark.parametrize("name", ["x" * 300 + ".yaml", "é" * 190 + ".yaml"])
def test_a_name_that_no_file_can_have_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    with pytest.raises(ConfigurationError, match="constitution") as error:
        read_constitution(tmp_path, name)
    assert len(str(error.value)) < 500


SECRET = "the words of a private file"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (tmp_path / "private.yaml").write_text(SECRET)
    (folder / "inner.yaml").write_text("fine")
    (folder / "link.yaml").symlink_to(folder / "inner.yaml")
    (folder / "out.yaml").symlink_to(tmp_path / "private.yaml")
    (folder / "passwd.md").symlink_to("/etc/passwd")
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    (folder / "device.yaml").symlink_to("/dev/zero")
    (folder / "huge.yaml").write_bytes(b"x" * 1_000_001)
    (folder / "binary.yaml").write_bytes(b"\xff" + SECRET.encode())
    os.mkfifo(folder / "pipe.yaml")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        *("out.yaml", "passwd.md", "loop.yaml", "device.yaml", "huge.yaml", "binary.yaml"),
        *("pipe.yaml", "..", ".", "", "../private.yaml", "..\\private.yaml", "x/../inner.yaml"),
        *("/etc/passwd", "C:\\boot.yaml", "c:inner.yaml", "file:///etc/passwd"),
        *("~/private.yaml", "%2e%2e%2fprivate.yaml", "..%2fprivate.yaml", "%00inner.yaml"),
        *("inner.yaml\0.md", "inner.yaml\n", "\u202elmay.renni", "NUL.yaml", "con", "com1.md"),
        *("inner.yaml:stream", "$HOME.yaml", "*.yaml"),
    ],
)
def test_no_name_reaches_anything_but_a_file_of_the_folder(home: Path, name: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_constitution(home, name)
    told = str(error.value)
    assert "\n" not in told
    assert SECRET not in told
    assert "root:" not in told
    assert str(home) not in told
    assert error.value.__cause__ is None or SECRET not in repr(error.value.__cause__)


def test_a_link_within_the_folder_is_a_name_like_others(home: Path) -> None:
    assert read_constitution(home, "link.yaml") == "fine"
    with pytest.raises(ConfigurationError) as error:
        read_constitution(home, "none.yaml")
    assert error.value.suggestion == ("there is: binary.yaml, huge.yaml, inner.yaml, link.yaml")


WRONG = [
    f"- {{name: {SECRET}, critique: b}}",
    f"- {{name: a, critique: b, revision: c, {SECRET}: 1}}",
    f"- {{name: a, critique: [{SECRET}], revision: c}}",
    f"- {SECRET}",
    f"{SECRET}: [",
    f"- !!timestamp {SECRET}",
    f"- {{name: {SECRET}, critique: b, revision: c}}\n" * 2,
    f"- {{name: {SECRET * 9}, critique: b, revision: c}}",
]


async def test_a_file_that_is_no_constitution_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    critics = [{"type": "constitutional", "file": "own.yaml"}]
    async with Client(SifakaServer(Settings(home=tmp_path))) as client:
        for content in WRONG:
            (tmp_path / FOLDER / "own.yaml").write_text(content)
            told = await refusal(client, "critique_text", text="A text.", critics=critics)
            assert told.startswith("critics[0]: own.yaml: ")
            assert "private" not in told
            assert "\n" not in told
