"""What is new of the findings, which of them fail, and what a rule is about."""

import subprocess
from pathlib import Path

import pytest

from sifaka.editor import edit, lint, rule_choice
from sifaka.editor.rules import Explanation, explanations
from sifaka.editor.style import kinds
from tests.server.cli.check.conftest import Check

WRONG = "We recieve all of the the goods."


def git(folder: Path, *arguments: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *author, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(texts: Path) -> Path:
    (texts / "a.md").write_text(f"{WRONG}\n\nA line.\n")
    (texts / "deep").mkdir()
    (texts / "deep" / "b.md").write_text(f"{WRONG}\n")
    git(texts, "init", "--quiet", "--initial-branch", "main")
    git(texts, "add", ".")
    git(texts, "commit", "--quiet", "--message", "First")
    return texts


def places(check: Check, *arguments: str) -> list[str]:
    return [line.split(": ")[0] for line in check(*arguments).lines]


def test_only_changed_lines_are_told_since_a_revision(repository: Path, check: Check) -> None:
    assert check(".", "--since", "HEAD").code == 0
    (repository / "a.md").write_text(f"Intro.\n\n{WRONG}\n\nWe recieve a line.\n")
    (repository / "new.md").write_text(f"{WRONG}\n")
    assert places(check, ".", "--since", "HEAD") == ["a.md:5:4", "new.md:1:4", "new.md:1:19"]
    assert places(check, "deep", "--since", "main") == []


def test_a_branch_is_compared_with_where_it_began(repository: Path, check: Check) -> None:
    git(repository, "checkout", "--quiet", "-b", "topic")
    (repository / "deep" / "b.md").write_text(f"{WRONG}\n\nWe recieve it.\n")
    git(repository, "commit", "--quiet", "--all", "--message", "Topic")
    git(repository, "checkout", "--quiet", "main")
    (repository / "a.md").write_text("A line.\n")
    git(repository, "commit", "--quiet", "--all", "--message", "Mended on main")
    git(repository, "checkout", "--quiet", "topic")
    assert places(check, ".", "--since", "main") == ["deep/b.md:3:4"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "nope"), "--since: there is no such commit — name a commit of the repository"),
        (("--since=--output=x",), "--since: there is no such commit"),
        (("--since", "HEAD", "--fix"), "fixes are made in the whole of a file — leave --since"),
        (("--baseline", "missing.json"), "missing.json cannot be read: No such file"),
        (("--baseline", "a.md"), "a.md is no report of findings — make one: sifaka check PATH"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    repository: Path, check: Check, arguments: tuple[str, ...], said: str
) -> None:
    done = check("a.md", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (repository / "x").exists()


def test_outside_a_repository_git_says_so(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    done = check("a.md", "--since", "HEAD")
    assert (done.code, "--since: not a git repository" in done.err) == (2, True)


def test_a_report_from_before_leaves_out_what_it_has(texts: Path, check: Check) -> None:
    text, report = texts / "a.md", texts / "before.json"
    text.write_text(f"{WRONG}\n")
    report.write_text(check("a.md", "--format", "json").out)
    assert check("a.md", "--baseline", "before.json").code == 0
    text.write_text(f"A first line.\n\n{WRONG}\n\n{WRONG}\n\nWe recieve it.\n")
    done = places(check, "a.md", "--baseline", "before.json")
    assert done == ["a.md:5:4", "a.md:5:19", "a.md:7:4"]


def test_findings_of_some_rules_alone_fail(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(f"{WRONG}\n")
    done = check("a.md", "--fail-on", "articles,capitals")
    assert (done.code, len(done.lines)) == (0, 2)
    assert check("a.md", "--fail-on", "articles", "--fail-on", "spelling").code == 1
    assert check("a.md", "--fail-on", "speling").code == 2


def test_nothing_to_check_is_an_error(check: Check) -> None:
    done = check()
    assert done.code == 2
    assert "there is nothing to check — name files or folders" in done.err


def test_a_rule_is_explained_with_an_example(check: Check) -> None:
    done = check("--explain", "modal-of")
    assert (done.code, done.lines) == (
        0,
        [
            "modal_of (confusions): `of` for `have` after could, would, should and the like.",
            "  found in: It could of been worse.",
            "  mended: It could have been worse.",
        ],
    )
    assert len(check("--explain", "spacing").lines) == 3
    assert len(check("--explain", "harper").lines) == len(check("--explain", "grammar").lines) > 99
    assert check("--explain", "style").out.count("style.") == len(kinds())
    assert check("--explain", "style.tail").out.startswith("style.tail (style): ")
    assert check("--explain", "harper.AsFollows").out.startswith("harper.AsFollows (grammar): ")
    assert check("--explain", "speling").code == 2


OWN = [told for told in explanations("default") if told.group != "grammar"]


@pytest.mark.parametrize("told", OWN, ids=[told.rule for told in OWN])
def test_the_example_of_a_rule_shows_it(told: Explanation) -> None:
    wanted = rule_choice([told.rule])
    assert [issue.rule for issue in lint(told.wrong, rules=wanted).issues] == [told.rule]
    assert edit(told.wrong, fixes="suggested", rules=wanted).text == told.right
    assert lint(told.right, rules=wanted).issues == ()
