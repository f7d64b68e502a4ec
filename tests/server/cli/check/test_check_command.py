"""What `sifaka check` prints, and its exit codes."""

from pathlib import Path

import pytest

from tests.server.cli.check.conftest import Check

WRONG = "# Notes\n\nWe recieve all of the the goods .\n"


def test_findings_are_lines_with_their_place_and_exit_code_1(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    done = check("a.md")
    assert done.code == 1
    assert done.lines == [
        'a.md:3:4: misspelling "recieve" should be "receive" [fix]',
        'a.md:3:19: repeated_word "the" is repeated [fix]',
        'a.md:3:32: space_before_punctuation no space before "." [fix]',
    ]
    assert done.err == "sifaka: 3 found; --fix mends 3\n"


def test_a_clean_text_is_silent_and_exit_code_0(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("We receive all of the goods.\n")
    (texts / "empty.md").write_text("")
    done = check(".")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_findings_may_be_no_failure(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    done = check("a.md", "--exit-zero")
    assert done.code == 0
    assert len(done.lines) == 3


def test_a_path_that_is_not_there_is_a_line_and_exit_code_2_and_the_rest_goes_on(
    texts: Path, check: Check
) -> None:
    (texts / "a.md").write_text(WRONG)
    done = check("missing.md", "a.md", "--exit-zero")
    assert done.code == 2
    assert len(done.lines) == 3
    assert done.err.splitlines()[0] == "sifaka: missing.md: No such file or directory"


def test_standard_input_has_the_name_that_is_given(check: Check) -> None:
    done = check("-", "--stdin-filename", "docs/page.md", given=WRONG.encode())
    assert done.code == 1
    assert done.lines[0].startswith("docs/page.md:3:4: misspelling")
    assert check("-", given=WRONG.encode()).lines[0].startswith("-:3:4: misspelling")


def test_standard_input_stands_alone(texts: Path, check: Check) -> None:
    done = check("-", "a.md")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sifaka: - stands alone")


def test_columns_count_characters_and_lines_end_as_they_end(texts: Path, check: Check) -> None:
    (texts / "a.md").write_bytes("Hi 😀 all.\r\nÄpfel, we recieve it.\r\rWe recieve it.\n".encode())
    places = [line.partition(": ")[0] for line in check("a.md", "--select", "spelling").lines]
    assert places == ["a.md:2:11", "a.md:4:4"]


def test_rules_are_chosen_by_name_and_by_group(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)

    def rules(*arguments: str) -> list[str]:
        return [line.split()[1] for line in check("a.md", *arguments).lines]

    assert rules("--select", "spelling,repeated-word") == ["misspelling", "repeated_word"]
    assert rules("--select", "spacing") == ["space_before_punctuation"]
    assert rules("--ignore", "spacing", "--ignore", "misspelling") == ["repeated_word"]
    assert rules("--ignore", "all", "--select", "spelling") == ["misspelling"]


@pytest.mark.slow
def test_an_unknown_rule_is_told_with_the_one_that_was_meant(texts: Path, check: Check) -> None:
    for name, meant in (("speling", "spelling"), ("harper.ModalOff", "harper.ModalOf")):
        done = check(".", "--select", name)
        assert done.code == 2
        assert done.err.startswith(f"sifaka: unknown rule '{name}' — did you mean '{meant}'?")
        assert done.err.count("\n") == 1


def test_a_rule_of_harper_can_be_chosen_alone(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("You should of seen it, and I recieve it.\n")
    done = check("a.md", "--select", "harper.ModalOf")
    assert [line.split()[1] for line in done.lines] == ["harper.ModalOf"]
    assert check("a.md", "--ignore", "harper,spelling,modal_of").code == 0
