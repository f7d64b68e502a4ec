"""The rules of a project, found upwards from each file."""

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
