"""Constitutions by the names that clients give."""

from pathlib import Path

import pytest

from server.constitutions import FOLDER, named_in
from sifaka.errors import ConfigurationError


def test_a_file_of_the_folder_is_read_and_others_are_told(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    (folder / "folder.yaml").mkdir(parents=True)
    (folder / "own.yaml").write_text("content")
    read = named_in(tmp_path)
    assert read("own.yaml") == "content"
    for missing in ("other.yaml", "folder.yaml"):
        with pytest.raises(ConfigurationError, match="there is no constitution") as error:
            read(missing)
        assert error.value.suggestion == "there is: own.yaml"


@pytest.mark.parametrize(
    "name", ["../own.yaml", "/etc/own.yaml", ".own.yaml", "a\0.yaml", "a\n.md"]
)
def test_what_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not the name of a constitution") as error:
        named_in(tmp_path)(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["x" * 300 + ".yaml", "é" * 190 + ".yaml"])
def test_a_name_that_no_file_can_have_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    with pytest.raises(ConfigurationError, match="constitution") as error:
        named_in(tmp_path)(name)
    assert len(str(error.value)) < 500
