"""`--in-place`: a file that is not what was read is left alone."""

from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.cli.document import TextFile, read_text_file, write_text_file
from sifaka_mcp.cli.improve import write_back


@pytest.fixture
def file(tmp_path: Path) -> TextFile:
    path = tmp_path / "notes.md"
    path.write_text("old")
    return read_text_file(path)


def test_a_file_that_was_edited_meanwhile_keeps_the_edit(
    file: TextFile, capsys: pytest.CaptureFixture[str]
) -> None:
    file.path.write_text("edited by a person")
    assert not write_back(file, "new")
    assert file.path.read_text() == "edited by a person"
    assert "notes.md: was changed meanwhile; not written" in capsys.readouterr().err


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
    assert write_back(file, "new")
    assert path.read_bytes() == b"\xef\xbb\xbfnew"
    assert path.stat().st_mode & 0o777 == 0o640
