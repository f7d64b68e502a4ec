"""Comments in a text that switch rules off."""

from pathlib import Path

import pytest

from tests.server.cli.check.conftest import Check

WRONG = "We recieve all of the the goods."


def found(texts: Path, check: Check, text: str, name: str = "a.md") -> list[str]:
    (texts / name).write_text(text)
    return [line.split()[0].split(":")[1] + " " + line.split()[1] for line in check(name).lines]


def test_a_comment_alone_switches_rules_off_in_the_next_line(texts: Path, check: Check) -> None:
    text = f"<!-- sifaka: ignore spelling -->\n\n{WRONG}\n\n{WRONG}\n"
    assert found(texts, check, text) == ["3 repeated_word", "5 misspelling", "5 repeated_word"]


def test_a_comment_in_a_line_switches_rules_off_there(texts: Path, check: Check) -> None:
    named = "<!-- sifaka: ignore repeated-word, articles -->"
    text = f"{WRONG} <!-- sifaka: ignore -->\n\n{WRONG} {named}\n"
    assert found(texts, check, text) == ["3 misspelling"]


def test_rules_are_off_from_one_comment_to_the_next(texts: Path, check: Check) -> None:
    text = f"<!-- sifaka: off spelling -->\n\n{WRONG}\n\n<!-- sifaka: on -->\n\n{WRONG}\n"
    assert found(texts, check, text) == ["3 repeated_word", "7 misspelling", "7 repeated_word"]
    assert found(texts, check, f"One.\n\n<!-- sifaka: off -->\n\n{WRONG}\n") == []


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a.rst", ".. sifaka: ignore"),
        ("a.tex", "% sifaka: ignore"),
        ("a.mdx", "{/* sifaka: ignore */}"),
        ("a.html", "<!-- sifaka: ignore -->"),
    ],
)
def test_each_format_has_its_own_comments(
    texts: Path, check: Check, name: str, comment: str
) -> None:
    assert found(texts, check, f"{comment}\n\n{WRONG}\n", name) == []
    assert found(texts, check, f"{WRONG}\n", name) != []
    if name != "a.rst":  # whose comments are paragraphs
        assert found(texts, check, f"{WRONG} {comment}\n\n{WRONG}\n", name) == [
            "3 misspelling", "3 repeated_word"
        ]  # fmt: skip


def test_a_comment_ends_a_line_of_plain_text(texts: Path, check: Check) -> None:
    text = f"{WRONG} # sifaka: ignore\n{WRONG} a#sifaka: ignore\n"
    assert found(texts, check, text, "a.txt") == ["2 misspelling", "2 repeated_word"]


def test_a_comment_holds_for_stock_prose_and_its_score(texts: Path, check: Check) -> None:
    sentence = "A seamless journey into a rich tapestry. "
    text = f"{'It opened in May, and it closed on Monday. ' * 10}\n\n{sentence}\n"
    (texts / "a.md").write_text(f"<!-- sifaka: off style -->\n{text}")
    assert check("a.md", "--select", "style", "--min-style", "90").code == 0
    (texts / "a.md").write_text(text)
    assert check("a.md", "--select", "style", "--min-style", "90").code == 1


def test_what_is_switched_off_is_not_fixed(texts: Path, check: Check) -> None:
    text = f"<!-- sifaka: ignore spelling -->\n{WRONG}\n"
    (texts / "a.md").write_text(text)
    assert check("a.md", "--fix").code == 0
    assert (texts / "a.md").read_text() == text.replace("the the", "the")


def test_an_unknown_rule_in_a_comment_is_told(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(f"<!-- sifaka: ignore speling -->\n{WRONG}\n")
    done = check("a.md")
    assert done.code == 1
    assert done.err.startswith("sifaka: a.md: line 1: unknown rule 'speling' — did you mean 'spel")
