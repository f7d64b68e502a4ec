"""The repository and the version stand in one place, and the files that repeat them agree."""

import re

import pytest

from distribution.identity import FILES, Identity, identity, main, rewritten
from tests.packaging.project import PROJECT, ROOT

OTHER = Identity("Someone-Else", "texts", "9.8.7rc1")


def files() -> dict[str, str]:
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES}


def test_no_file_has_a_placeholder() -> None:
    for name, text in files().items():
        assert not re.search(r"\bOWNER\b|\bREPOSITORY sifaka|<owner>|example\.com/sifaka", text), (
            name
        )


def test_every_file_names_the_repository_and_no_other_place_of_ours() -> None:
    place = identity().place
    for name, text in files().items():
        named = re.findall(r"github\.com/([\w-]+/[\w.-]*sifaka[\w-]*)", text)
        assert set(named) <= {place}, name
        assert place in text, name


def test_another_repository_and_version_leave_nothing_of_the_old_ones() -> None:
    now = identity()
    for name, text in files().items():
        changed = rewritten(text, now, OTHER)
        assert f"github.com/{now.place}" not in changed, name
        assert f"io.github.{now.place}" not in changed, name
        assert rewritten(changed, OTHER, now) == text, name
    entry = rewritten(files()["server.json"], now, OTHER)
    assert entry.count(f'"{OTHER.version}"') == 2
    assert f'"io.github.{OTHER.place}"' in entry
    assert '"ghcr.io/someone-else/texts:9.8.7rc1"' in entry
    assert entry.count(f"githubusercontent.com/{OTHER.place}/") == 2


def test_the_urls_of_the_project_are_of_the_repository() -> None:
    assert all(f"github.com/{identity().place}" in url for url in PROJECT["urls"].values())


def test_a_release_in_another_repository_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--is", identity().place]) == 0
    assert main(["--is", "fork/sifaka-mcp"]) == 1
    assert capsys.readouterr().out.count(f"{identity().place} {identity().version}") == 2
