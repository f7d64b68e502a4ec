"""Patterns as in .gitignore: what git says, in a time that no pattern makes longer."""

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.settings.path_patterns import LARGEST, Patterns
from tests.server.cli.check.conftest import Check
from tests.stubs.cost import seconds

NAMES = ("a", "b", "ab", "foo", "a]b", "a[b", "-", "é", "x.md", "a b", "#x", "!x", "]", r"a\b", "A")
TABLE = (
    *("*.md", "/a", "a/", "a/b", "/a/b/", "**", "**/a", "a/**", "a/**/b", "**/a/**", "a/*", "*/b"),
    *(
        "?",
        "[ab]",
        "[!ab]",
        "[^a]",
        "[]a]*",
        "[a-c]*",
        "[b-a]",
        "[!b-a]",
        "[[:alpha:]]",
        "[[:no:]]",
    ),
    *(
        "[",
        "a[",
        "[]",
        "[!",
        "\\",
        "a\\",
        "\\a",
        "\\#x",
        "\\!x",
        "#x",
        "a\\ b",
        "a ",
        "\\ ",
        "[a\\]b]",
    ),
    *(
        "a\\[b",
        "a[[]b",
        "***",
        "a**",
        "foo/",
        "/",
        "//",
        "!",
        "a//b",
        "/**/b",
        "[[:upper:][:digit:]]",
    ),
    *("*]*", "[--a]", "[a-]", "[[:alpha:]-b]", "[/]", "a\\\\b", "é", "?é", "[é]*", "*[!a]*b"),
)


def paths() -> list[str]:
    chance = random.Random(7)  # noqa: S311 - the same each time
    made = ("/".join(chance.choices(NAMES, k=chance.randint(1, 4))) for _ in range(300))
    return sorted({*NAMES, *made})


def said_by_git(folder: Path, lines: Sequence[str], asked: Sequence[str]) -> list[bool]:
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".gitignore").write_bytes("\n".join(lines).encode() + b"\n")
    command = ["git", "-C", folder, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"]
    given = b"".join(path.encode() + b"\0" for path in asked)
    done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)
    fields = done.stdout.split(b"\0")
    return [
        bool(source) and not pattern.startswith(b"!")
        for source, pattern in zip(fields[:-1:4], fields[2::4], strict=True)
    ]


@pytest.mark.parametrize("lines", [(one,) for one in TABLE] + [("*", "!a", "a/b"), ("a", "!a/b")])
def test_a_pattern_means_what_it_means_to_git(tmp_path: Path, lines: Sequence[str]) -> None:
    asked = paths()
    patterns = Patterns.of(tmp_path, lines)
    assert [patterns.covers(tmp_path / each) for each in asked] == said_by_git(
        tmp_path, lines, asked
    )


def test_many_patterns_by_chance_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    chance = random.Random(11)  # noqa: S311 - the same each time
    pieces = ("a", "b", "*", "/**", "**/", "/", "?", "[a-c]", "[!a]", "[", "\\", "!", "]", " ", "é")
    asked = paths()
    for _ in range(40):
        made = ("".join(chance.choices(pieces, k=chance.randint(1, 5))) for _ in range(3))
        # Behind letters git itself takes `**/` for the beginning of a pattern, against its manual.
        lines = [line for line in made if "a**" not in line and "b**" not in line]
        patterns = Patterns.of(tmp_path, lines)
        assert [patterns.covers(tmp_path / each) for each in asked] == said_by_git(
            tmp_path, lines, asked
        ), lines


HOSTILE = {
    "stars": ["*" * 19_000 + "x"],
    "stars and letters": ["*a" * 9_900 + "x"],
    "folders": ["**/" * 6_600 + "x"],
    "folders and letters": ["**/a/" * 3_900 + "x"],
    "open brackets": ["[" * 19_000],
    "classes": ["[[:" * 6_600],
    "brackets": ["[!a]" * 4_900],
    "many": ["*a*"] * 6_600,
    "escapes": ["\\" * 19_999],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_pattern_takes_long(kind: str, tmp_path: Path) -> None:
    made: list[Patterns] = []
    assert seconds(lambda: made.append(Patterns.of(tmp_path, HOSTILE[kind]))) < 2
    for path in ("a" * 250, "a/" * 125, "docs/a.md"):
        assert seconds(lambda path=tmp_path / path: made[0].covers(path)) < 0.1


def test_patterns_that_are_too_many_are_refused(texts: Path, check: Check) -> None:
    with pytest.raises(ConfigurationError, match="at most 20,000"):
        Patterns.of(texts, ["*" * LARGEST, "a"])
    (texts / "a.md").write_text("We recieve it.\n")
    (texts / ".gitignore").write_text("*a" * 500_000)
    done = check(".")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("sifaka: .gitignore is larger than 20000 bytes")
    (texts / ".gitignore").unlink()
    (texts / "sifaka.toml").write_text(f'[check]\nexclude = ["{"*a" * 60_000}"]\n')
    assert "sifaka.toml: check.exclude: the patterns have 120,000 bytes" in check("a.md").err
