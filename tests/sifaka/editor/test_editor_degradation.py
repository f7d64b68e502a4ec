"""What happens without the optional tools, and how long things take."""

import subprocess
import sys
from collections.abc import Iterable

import pytest

from sifaka.editor import RULES, edit, lint
from sifaka.editor.grammar import LIMIT
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.report import findings
from sifaka.record.results import Issue
from sifaka.text.formats import Format
from sifaka_mcp.cli.improve import TEXT as ANNOUNCEMENT


def run(code: str) -> list[str]:
    """The lines that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.slow
def test_without_the_tools_the_rest_still_works_and_says_so() -> None:
    lines = run(
        "import sys\n"
        "sys.modules['harper'] = sys.modules['ftfy'] = None\n"
        "from sifaka.editor import lint, edit\n"
        "found = lint('We recieve a apple — and  more.')\n"
        "print(*found.degraded, sep='\\n')\n"
        "print(ascii(edit('We recieve a apple — and  more.').text))\n"
    )
    assert lines == [
        "encoding: `ftfy` is not installed",
        "grammar: `harper-py` is not installed",
        ascii("We receive an apple — and more."),
    ]


@pytest.mark.slow
def test_importing_the_editor_loads_no_engine() -> None:
    (loaded,) = run(
        "import sys, sifaka.editor\nprint([m for m in ('harper', 'ftfy') if m in sys.modules])"
    )
    assert loaded == "[]"


@pytest.mark.slow
def test_nothing_is_printed_by_any_rule() -> None:
    lines = run(
        "from sifaka.editor import lint\n"
        "lint('We look forward to hear from you. Looking forward to see you, and to meet them.')\n"
    )
    assert lines == []


@pytest.mark.slow
def test_a_very_long_text_is_linted_without_grammar_and_says_so() -> None:
    text = "It is a apple that I saw there. " * (LIMIT // 30)
    found = lint(text)
    assert [line.partition(":")[0] for line in found.degraded] == ["grammar"]
    assert {i.rule for i in found.issues} == {"article"}


@pytest.mark.slow
@pytest.mark.parametrize("length", [200_000, pytest.param(900_000, marks=pytest.mark.hostile)])
@pytest.mark.timeout(100)  # of the many minutes that a careless editor takes
def test_editing_a_very_long_text_comes_to_an_end(length: int) -> None:
    text = ANNOUNCEMENT.read_text(encoding="utf-8")
    text = f"{text}\n\n" * (length // len(text))
    done = edit(text)
    assert "recieved" not in done.text


@pytest.mark.hostile
@pytest.mark.timeout(100)
def test_openings_that_are_never_closed_take_no_quadratic_time() -> None:
    for opening in ("/* x\n", "'''\n", "<pre>\n"):
        text = opening * (200_000 // len(opening))
        assert edit(text).text == text


def test_a_rule_that_stumbles_costs_that_rule_alone(caplog: pytest.LogCaptureFixture) -> None:
    def stumbling(parsed: ParsedText) -> Iterable[Issue]:
        raise IndexError(parsed.text)

    found, degraded = findings(
        ParsedText.read("We recieve it here.", Format.MARKDOWN), {"stumbling": stumbling, **RULES}
    )
    assert [issue.quote for issue in found] == ["recieve"]
    assert degraded == ("stumbling: not checked, because of a bug (IndexError)",)
    assert "editor:stumbling" in caplog.text


def test_a_verb_of_two_letters_is_read() -> None:
    assert edit("The rules they t' here in case 3.").text == "The rules they t' here in case 3."
