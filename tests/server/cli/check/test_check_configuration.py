"""The rules of a project, found upwards from each file."""

import os
from pathlib import Path

import pytest

from tests.server.cli.check.conftest import Check

WRONG = "We recieve all of the the goods.\n"


def rules(check: Check, *arguments: str) -> list[str]:
    return [line.split()[1] for line in check(*arguments).lines]


def test_rules_are_found_above_the_file_in_either_file(texts: Path, check: Check) -> None:
    (texts / "docs" / "deep").mkdir(parents=True)
    (texts / "docs" / "deep" / "a.md").write_text(WRONG)
    (texts / "pyproject.toml").write_text('[tool.sifaka.check]\nselect = ["spelling"]\n')
    assert rules(check, "docs") == ["misspelling"]
    (texts / "docs" / "sifaka.toml").write_text('[check]\nignore = ["spelling"]\n')
    assert rules(check, "docs") == ["repeated_word"]
    (texts / "docs" / "deep" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert rules(check, ".") == ["repeated_word"]


def test_in_one_folder_sifaka_toml_wins(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    (texts / "pyproject.toml").write_text('[tool.sifaka.check]\nignore = ["all"]\n')
    (texts / "sifaka.toml").write_text('log_level = "ERROR"\n[check]\nignore = ["spelling"]\n')
    assert rules(check, "a.md") == ["repeated_word"]
    assert rules(check, "a.md", "--no-config") == ["misspelling", "repeated_word"]


def test_one_file_of_rules_can_be_named(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    (texts / "strict.toml").write_text('[check]\nselect = ["spelling"]\n')
    (texts / "sifaka.toml").write_text('[check]\nignore = ["all"]\n')
    assert rules(check, "a.md", "--config", "strict.toml") == ["misspelling"]
    for name, said in (("missing.toml", "missing.toml"), ("a.md", "a.md is not valid TOML")):
        done = check("a.md", "--config", name)
        assert (done.code, said in done.err) == (2, True)
    assert check("a.md", "--config", "strict.toml", "--no-config").code == 2


def test_the_command_line_wins(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    (texts / "sifaka.toml").write_text('[check]\nselect = ["capitals"]\nignore = ["spelling"]\n')
    assert rules(check, "a.md", "--select", "spelling") == ["misspelling"]


def test_accepted_words_are_no_misspellings(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("Recieve it. We recieve it.\n")
    (texts / "sifaka.toml").write_text('[check]\nwords = ["Recieve"]\n')
    assert check("a.md", "--fix").code == 0
    assert (texts / "a.md").read_text() == "Recieve it. We recieve it.\n"


def test_excluded_files_are_left_out_also_when_they_are_named(texts: Path, check: Check) -> None:
    for name in ("a.md", "old/b.md", "keep/old/c.md"):
        (texts / name).parent.mkdir(parents=True, exist_ok=True)
        (texts / name).write_text(WRONG)
    (texts / "sifaka.toml").write_text('[check]\nexclude = ["/old/", "a.*"]\n')
    assert [line.partition(":")[0] for line in check(".", "old/b.md", "a.md").lines] == [
        "keep/old/c.md"
    ] * 2
    assert [line.partition(":")[0] for line in check("../texts/keep/old/c.md").lines] == [
        "../texts/keep/old/c.md"
    ] * 2


def test_rules_are_ignored_in_some_files(texts: Path, check: Check) -> None:
    (texts / "old").mkdir()
    for name in ("new.md", "old/a.md"):
        (texts / name).write_text(WRONG)
    (texts / "pyproject.toml").write_text(
        '[tool.sifaka.check.per-file-ignores]\n"old/*.md" = ["spelling"]\n'
    )
    assert rules(check, ".") == ["misspelling", "repeated_word", "repeated_word"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("selekt = []", "sifaka.toml: check.selekt: unknown key — did you mean 'select'?"),
        ('words = "teh"', "sifaka.toml: check.words: should be a list, not 'teh'"),
        ("exclude = [3]", "sifaka.toml: check.exclude[0]: should be a string, not 3"),
        ('ignore = ["speling"]', "sifaka.toml: check.ignore: unknown rule 'speling' — did you"),
        ('per-file-ignores = {"*" = ["x"]}', "sifaka.toml: check.per-file-ignores: unknown rule"),
        ("plugins = []", "sifaka.toml: check.plugins: unknown key"),
        ("x = [", "sifaka.toml is not valid TOML"),
    ],
)
def test_a_wrong_table_is_one_line_with_the_file_and_the_key(
    texts: Path, check: Check, table: str, said: str
) -> None:
    (texts / "docs").mkdir()
    (texts / "docs" / "a.md").write_text(WRONG)
    (texts / "docs" / "sifaka.toml").write_text(f"[check]\n{table}\n")
    done = check(".")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sifaka: ")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_the_table_is_a_table(texts: Path, check: Check) -> None:
    (texts / "pyproject.toml").write_text("[tool.sifaka]\ncheck = 3\n")
    assert "pyproject.toml: tool.sifaka.check: is not a table" in check(".").err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cspell.json", '{ // ours\n "words": ["Recieve",], }'),
        (".cspell.json", '{"ignoreWords": ["recieve"]}'),
        ("cspell.config.yaml", "words:\n  - recieve\n"),
        ("_typos.toml", '[default.extend-words]\nrecieve = "recieve"\nseperate = "separate"\n'),
        ("typos.toml", '[default.extend-identifiers]\nRecieve = "Recieve"\n'),
        ("pyproject.toml", '[tool.typos.default.extend-words]\nrecieve = "recieve"\n'),
    ],
)
def test_words_of_other_tools_dictionaries_are_right(
    texts: Path, check: Check, name: str, content: str
) -> None:
    (texts / "docs").mkdir()
    (texts / "docs" / "a.md").write_text("We recieve it. Keep them seperate.\n")
    (texts / name).write_text(content)
    assert [line.split('"')[1] for line in check("docs").lines] == ["seperate"]
    assert len(check("docs", "--no-config").lines) == 2


def test_a_list_of_cspell_is_read_in_its_folder_alone(texts: Path, check: Check) -> None:
    project = texts / "project"
    project.mkdir()
    (project / "a.md").write_text("We recieve it.\n")
    (project / "words.txt").write_text("# ours\nrecieve # a name\n")
    (texts / "words.txt").write_text("recieve\n")
    (project / "cspell.json").write_text('{"dictionaryDefinitions": [{"path": "words.txt"}]}')
    assert check("project").code == 0
    (project / "cspell.json").write_text('{"dictionaryDefinitions": [{"path": "../words.txt"}]}')
    assert check("project").code == 1


@pytest.mark.parametrize("content", ["{", "[1]", '{"words": 3}', '{"words": ' + "[" * 50_000])
def test_a_broken_dictionary_stops_nothing(texts: Path, check: Check, content: str) -> None:
    (texts / "a.md").write_text(WRONG)
    (texts / "cspell.json").write_text(content)
    assert rules(check, "a.md") == ["misspelling", "repeated_word"]


def test_no_rules_are_looked_for_above_a_repository_or_the_home_folder(
    texts: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    (texts / "sifaka.toml").write_text('[check]\nignore = ["all"]\n')
    inner = texts / "inner"
    inner.mkdir()
    (inner / "a.md").write_text(WRONG)
    assert check("inner").code == 0
    (inner / ".git").mkdir()
    assert check("inner").code == 1
    (inner / ".git").rmdir()
    monkeypatch.setenv("HOME", str(inner))
    assert check("inner").code == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root's chown")
def test_no_rules_are_taken_from_a_folder_of_another_owner(texts: Path, check: Check) -> None:
    (texts / "inner").mkdir()
    (texts / "inner" / "a.md").write_text(WRONG)
    (texts / "sifaka.toml").write_text('[check]\nignore = ["all"]\n')
    os.chown(texts / "inner", 4242, -1)
    assert check("inner").code == 1
