"""What the distribution says about itself agrees with the files around it and with its data."""

import re

import pytest
import yaml

from distribution.identity import FILES, Identity, identity, main, rewritten
from distribution.word_data import corrections, typos
from sifaka.editor.spelling import corrections_of, known_misspellings
from tests.packaging.project import PROJECT, ROOT, SETTINGS, make_targets


def test_the_newest_release_in_the_changelog_is_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", text, re.MULTILINE)
    assert releases[0] == (PROJECT["version"], "2026-11-21")
    assert text.index("## [Unreleased]") < text.index(f"## [{releases[0][0]}]")


def test_the_commit_hooks_call_targets_that_exist() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    (repository,) = yaml.safe_load(text)["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program, target = hook["entry"].split()
        assert (program, hook["language"], hook["pass_filenames"]) == ("make", "system", False)
        assert target in make_targets()
    assert {hook["id"] for hook in repository["hooks"]} == {"lint", "types", "test"}


def test_what_goes_into_the_source_distribution_exists() -> None:
    for name in SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name).exists(), name


def test_continuous_integration_runs_targets_that_exist() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^make (.+)$", script, re.MULTILINE)
    assert set(targets.split()) <= make_targets()


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


@pytest.mark.slow
def test_every_misspelling_is_one_of_typos_and_has_its_corrections() -> None:
    words = [line.partition(" ")[0] for line in known_misspellings()]
    assert words == sorted(words)
    assert len(words) > 90_000
    told = corrections(words)
    assert {word: list(corrections_of(word)) for word in words} == told


def test_words_that_are_right_have_no_corrections() -> None:
    right = ["receive", "the", "zzz", "a", "", "zyzzyva"]
    assert [list(corrections_of(word)) for word in right] == [[]] * len(right)
    assert corrections(right) == {}


def test_typos_is_there_to_compare_with() -> None:
    assert typos().exists()
