"""What happens without the optional tools, and the time that things take."""

import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from time import process_time

import pytest

from sifaka.editor import edit, lint, report, rule_choice
from sifaka.editor import isolated as module
from sifaka.editor.edit import AppliedEdit, Origins
from sifaka.editor.grammar import LIMIT, stretches
from sifaka.editor.isolated import run_editor
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.report import find_issues
from sifaka.errors import PluginError
from sifaka.isolation import SHORT
from sifaka.record.results import Issue
from sifaka.tasks.check import check
from sifaka_mcp.cli.improve import TEXT as ANNOUNCEMENT
from tests.stubs.cost import seconds

pytestmark = pytest.mark.anyio


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
        "found = lint('We recieve a apple — and more.')\n"
        "print(*found.degraded, sep='\\n')\n"
        "print(ascii(edit('We recieve a apple — and more.').text))\n"
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


def test_a_rule_that_stumbles_costs_that_rule_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stumbling(parsed: ParsedText) -> Iterable[Issue]:
        raise IndexError(parsed.text)

    monkeypatch.setattr(report, "BY_DEFAULT", {**report.BY_DEFAULT, "capitals": stumbling})
    found = lint("We recieve it here.")
    assert [issue.quote for issue in found.issues] == ["recieve"]
    assert found.degraded == ("capitals: not checked, because of a bug (IndexError)",)
    assert "editor:capitals" in caplog.text


def test_a_verb_of_two_letters_is_read() -> None:
    assert edit("The rules they t' here in case 3.").text == "The rules they t' here in case 3."


def busy() -> None:
    """Take more processor time than a worker process has."""
    end = process_time() + 60
    while process_time() < end:
        pass


@pytest.mark.slow
async def test_a_text_that_took_too_long_for_one_part_is_not_tried_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.5)
    text = "long " * SHORT
    with pytest.raises(PluginError, match="too much time"):
        await run_editor(text, busy)
    with pytest.raises(PluginError, match="too much time"):
        await run_editor(text, partial(len, text))
    assert await run_editor(f"{text}.", partial(len, text)) == len(text)


@pytest.mark.slow
async def test_it_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.5)
    monkeypatch.setattr(module, "AGAIN", 0.0)
    text = "slow " * SHORT
    with pytest.raises(PluginError, match="too much time"):
        await run_editor(text, busy)
    assert await run_editor(text, partial(len, text)) == len(text)


PIECES = {
    "Chinese": "我们昨天去了公园，天气很好。",
    "Thai": "ภาษาไทยเป็นภาษาที่มีระบบเสียงวรรณยุกต์ ",
    "emoji": "😀🎉👍🏽",
    "mistakes": "I has two cat. He go home and he recieve a apple in order to eat it.\n\n",
    "one sentence of clauses": "because he go and she have, he need it, we was here, ",
    "a question without end": "do he like it and does they go ",
    "pronouns": "it was nice. he went. when i was young we saw. ",
    "doubled words": "in in the on on the by by the to to is is ",
    "brackets": "[(",
    "full stops": ".......a",
    "gaps": "a  b ",
    "a nested list": "      - an item of it\n",
    "a table": "| one | has two cat |\n",
    "short lines": "ab cd\n",
}
QUICK = ("Chinese", "mistakes", "brackets", "gaps", "short lines")
"""`make test-hostile` tries all."""
SMALL = 8_000


def rules_of(piece: str, size: int) -> float:
    """The seconds of all rules but Harper's, the least of two attempts."""
    text = (piece * (size // len(piece) + 1))[:size]
    wanted = rule_choice(ignore=["grammar", "spelling"])
    return min(seconds(lambda: find_issues(ParsedText(text, text), wanted)) for _ in range(2))


@pytest.mark.parametrize(
    "kind",
    [
        *QUICK,
        *(pytest.param(each, marks=pytest.mark.hostile) for each in PIECES if each not in QUICK),
    ],
)
def test_four_times_the_text_takes_no_quadratic_time(kind: str) -> None:
    # Linear time is four times as much, quadratic time sixteen times.
    assert rules_of(PIECES[kind], 4 * SMALL) < 9 * rules_of(PIECES[kind], SMALL) + 0.05


@pytest.mark.parametrize("kind", ["Chinese", "Thai", "emoji", "brackets", "full stops"])
def test_harper_is_not_given_what_holds_no_english(kind: str) -> None:
    parsed = ParsedText(PIECES[kind] * 2_000, PIECES[kind] * 2_000)
    assert list(stretches(parsed)) == []


def test_harper_is_given_a_long_line_in_short_stretches() -> None:
    text = "all of sudden it was here " * 2_000
    parts = list(stretches(ParsedText(text, text)))
    assert max(map(len, (part for _, part in parts))) <= 2_000
    assert sum(map(len, (part for _, part in parts))) <= len(text)
    assert find_issues(ParsedText(text, text), rule_choice(["grammar"])).issues


def test_edits_of_a_later_round_are_placed_in_the_first_text() -> None:
    def edit(start: int, before: str, after: str) -> AppliedEdit:
        return AppliedEdit(rule="", message="", start=start, before=before, after=after)

    # "an aa bb cc" became "a long cc".
    origins = Origins([edit(0, "an", "a"), edit(3, "aa bb", "long")])
    assert [origins.of(offset) for offset in (0, 1, 2, 4, 6, 9)] == [0, 2, 3, 3, 8, 11]


def test_a_thousand_comments_and_findings_are_matched_in_order() -> None:
    lines = ["We recieve it. <!-- sifaka: ignore spelling -->", "We recieve it."]
    found = check("\n\n".join(lines * 500), rule_choice(["spelling"]))
    assert [each.line for each in found.diagnostics] == list(range(3, 2_001, 4))
