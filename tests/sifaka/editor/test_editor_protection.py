"""What the editor leaves byte-identical, and what holds for every text."""

import random
import re
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sifaka.editor import apply, edit, lint, protected
from sifaka.text.formats import Format
from sifaka.text.markdown import code_spans
from sifaka.text.prose import urls

SAMPLES = Path(__file__).with_name("samples")
UNTOUCHED: dict[str, str] = tomllib.loads((SAMPLES / "untouched.toml").read_text("utf-8"))
MIXED = UNTOUCHED["inline"] + UNTOUCHED["code"] + UNTOUCHED["markdown_table"]


@pytest.mark.parametrize(
    "text",
    [
        *UNTOUCHED.values(),
        "The A and AAAA records of the zone point to the same host.\n",
        "Take a variable `i` and a counter n, where a and b are its limits and a is small.\n",
        "We call it with a variable i and an i in the index, since a exceeds b here.\n",
        "He said that that had had no effect, and gave her her book in in-house style.\n",
        "$ git add .  && echo the the\n>>> print( 'a  apple' )\n",
        '{"title": "teh  recieve", "items": ["a apple"]}',
        "Le serveur a oublié de recevoir les données , et il a une adresse qui est là !\n",
        "Der Server hat die Adresse nicht gefunden und wird auf die  Datei zugreifen.\n",
    ],
)
def test_these_texts_come_back_byte_for_byte(text: str) -> None:
    assert edit(text).text == text
    assert not [issue for issue in lint(text).issues if issue.safe]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("Call `recieve` now.", "`recieve`"),
        ("See https://a.example/teh for more.", "https://a.example/teh"),
        ("Write to a.b@c.example today.", "a.b@c.example"),
        ("Open src/teh/main.py first.", "src/teh/main.py"),
        ("Open ~/notes or .gitignore first.", ".gitignore"),
        ("Use --dry-run here.", "--dry-run"),
        ("Set snake_case there.", "snake_case"),
        ('She said "fine by me" twice.', '"fine by me"'),
        ("The sum $a + b$ is small.", "$a + b$"),
        ("A <b class='x'>bold</b> word.", "<b class='x'>"),
    ],
)
def test_a_thing_that_stands_for_itself_is_one_protected_span(text: str, piece: str) -> None:
    start = text.index(piece)
    end = start + len(piece)
    assert any(s <= start and end <= e for s, e in protected(text))


def test_plain_prose_and_emphasis_do_not_protect() -> None:
    assert protected("It's a plain sentence; isn't it? We don't think so - not at all.") == []
    assert protected("There's no money (none at all) in it: the dogs' owners can't pay.") == []
    assert edit("This is *teh* and **untill** and _recieve_ in bold.\n").text == (
        "This is *the* and **until** and _receive_ in bold.\n"
    )


def test_protected_spans_are_sorted_and_nothing_inside_is_reported() -> None:
    spans = protected(MIXED)
    assert all(a_end < b_start for (_, a_end), (b_start, _) in pairwise(spans))
    text = f"{MIXED}It is a apple that I could of recieved from them .\n"
    inside = protected(text)
    for issue in lint(text).issues:
        start, end = issue.start or 0, issue.end or 0
        assert not any(s < end and start < e for s, e in inside), issue


ORDINARY = re.findall(
    r"\S+",
    """I A a it true yes no off not select Select from into insert Insert delete where as join
    values set Exception in thread Error most be ad de fa add dead beef cafe Face import git return
    do Dim the meeting is on Caused Index make File line none don't it's""",
)


@pytest.mark.slow
def test_a_line_of_ordinary_words_is_protected_as_it_is_in_a_longer_text() -> None:
    dice = random.Random(11)  # noqa: S311 - not a secret
    lines = ["Dead beef cafe face fade.", "Exception in thread main.", "Select it from a as usual."]
    for _ in range(3000):
        words = dice.choices(ORDINARY, k=dice.randint(1, 7))
        marks = dice.choices([" ", " ", " ", ", ", ". ", "? "], k=len(words) - 1)
        line = "".join(word + mark for word, mark in zip(words, [*marks, "."], strict=True))
        lines.append(line[0].upper() + line[1:])
    for line in lines:
        *before, code = protected(f"{line}\n\n`code`")
        assert (before, code) == (protected(line), (len(line) + 2, len(line) + 8))
    assert protected(lines[0])


FRAGMENTS = [
    "the", "the the", "a apple", "an test", "a hour", "an  other", "in order to", "In order to",
    "to", "due to the fact that", "a large number of", "recieve", "untill", "Teh", "buildds",
    "seperate", "However", "However the", "Therefore we", ",", " ,", " .", ".", "!", " !", "?",
    "  ", "   ", "\n", "\n\n", "\n- ", "\n1. ", "\n# ", "\n> ", "\n    ", "e.g", "eg", "(eg ",
    "i.e", "ie.", "(", ")", "\"", "'", "“", "”", "`", "`recieve`", "```\n",
    "\n```\ncode  teh\n```\n", "https://example.com/teh?a=1", "not", "not not", "no", "don't",
    "donâ€™t", "cafÃ©", "e\u0301", "é", "12", "12,5", "3.14", "| a | b |\n", "--flag",
    "snake_case", "it is important to note that", "each and every", "exact same",
    "an added bonus", "utilize", "dog", "house", "we", "is", "that", "had had", "*", "**", "_",
    "<b>", "</b>", "$", "$x$", "{", "}", "[", "](", "\t", "\r\n", "—", "\u200b", "\u0007", "😀",
    "word word",
]  # fmt: skip

texts = st.lists(
    st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from([" ", " ", " ", "", "\n"])), max_size=40
).map(lambda pairs: "".join(piece + gap for piece, gap in pairs))
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@pytest.mark.slow
@settings(max_examples=300)
@given(texts)
def test_editing_twice_is_editing_once(text: str) -> None:
    once = edit(text)
    again = edit(once.text)
    assert again.text == once.text
    assert again.edits == ()


@pytest.mark.slow
@settings(max_examples=200)
@given(texts)
def test_numbers_urls_and_code_survive(text: str) -> None:
    done = edit(text).text
    assert Counter(NUMBER.findall(done)) == Counter(NUMBER.findall(text))
    assert Counter(done[a:b] for a, b in urls(done)) == Counter(text[a:b] for a, b in urls(text))
    kept = [text[a:b] for a, b in code_spans(text)]
    assert all(piece in done for piece in kept)


@pytest.mark.slow
@settings(max_examples=200)
@given(texts)
def test_safe_issues_can_be_applied_and_lie_outside_protected_spans(text: str) -> None:
    issues = lint(text, format=Format.MARKDOWN).issues
    spans = protected(text)
    safe = [issue for issue in issues if issue.safe]
    assert len(apply(text, issues).edits) == len(safe)
    for issue in issues:
        start, end = issue.start or 0, issue.end or 0
        assert text[start:end] == issue.quote
        assert not any(s < end and start < e for s, e in spans)
