"""Properties that hold for every text."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sifaka.editor import apply, edit, lint, protected
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.report import RULES, findings
from sifaka.text.formats import Format
from sifaka.text.markdown import code_spans
from sifaka.text.prose import urls

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
    issues, _ = findings(ParsedText.read(text, Format.MARKDOWN), RULES)
    spans = protected(text)
    safe = [issue for issue in issues if issue.safe]
    assert len(apply(text, issues).edits) == len(safe)
    for issue in issues:
        start, end = issue.start or 0, issue.end or 0
        assert text[start:end] == issue.quote
        assert not any(s < end and start < e for s, e in spans)


@settings(max_examples=25)
@given(texts)
def test_after_an_edit_no_safe_issue_is_left(text: str) -> None:
    assert [i for i in lint(edit(text).text).issues if i.safe] == []
