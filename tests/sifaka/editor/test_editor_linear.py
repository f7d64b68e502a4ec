"""The time of the editor grows with the length of the text, whatever the text is made of."""

import pytest

from sifaka.editor import RULES
from sifaka.editor.edit import AppliedEdit, Origins
from sifaka.editor.grammar import grammar, stretches
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.report import findings
from sifaka.tasks.check import RuleChoice, check
from sifaka.text.formats import Format
from tests.stubs.cost import seconds

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
    rules = {name: RULES[name] for name in RULES if name not in {"grammar", "spelling"}}
    return min(
        seconds(lambda: findings(ParsedText.read(text, Format.MARKDOWN), rules)) for _ in range(2)
    )


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
    assert findings(ParsedText.read(text, Format.MARKDOWN), {"grammar": grammar})[0]


def test_edits_of_a_later_round_are_placed_in_the_first_text() -> None:
    def edit(start: int, before: str, after: str) -> AppliedEdit:
        return AppliedEdit(rule="", message="", start=start, before=before, after=after)

    # "an aa bb cc" became "a long cc".
    origins = Origins([edit(0, "an", "a"), edit(3, "aa bb", "long")])
    assert [origins.of(offset) for offset in (0, 1, 2, 4, 6, 9)] == [0, 2, 3, 3, 8, 11]


def test_a_thousand_comments_and_findings_are_matched_in_order() -> None:
    lines = ["We recieve it. <!-- sifaka: ignore spelling -->", "We recieve it."]
    found = check("\n\n".join(lines * 500), RuleChoice.of(["spelling"]))
    assert [each.line for each in found.diagnostics] == list(range(3, 2_001, 4))
