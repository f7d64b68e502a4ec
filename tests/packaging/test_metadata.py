"""What the distribution says about itself agrees with the files around it."""

import re

import yaml

from tests.packaging.makefile import make_targets
from tests.packaging.project import PROJECT, ROOT, SETTINGS


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
