"""One search for the places of several patterns finds what each of them finds alone."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.editor.report import RULES
from sifaka.record.results import Issue
from sifaka.text.formats import Format
from tests.sifaka.editor.test_editor_mistakes import MISTAKES

TEXTS = (
    " ".join(wrong for wrong, _ in MISTAKES),
    "she speaks english and a little french, in london. then he learned german near paris",
    "does he go? Does you go?does he go Do he go; he do go. She was they was we was you was here",
    *(path.read_text(encoding="utf-8") for path in sorted(Path("docs").glob("*.md"))),
)


FOUND = {
    f"{module.__name__}.{name}": rule
    for module in {sys.modules[rule.__module__] for rule in RULES.values()}
    for name, rule in vars(module).items()
    if isinstance(rule, PatternRule)
}


@pytest.mark.parametrize("name", FOUND)
def test_every_match_is_decided_in_the_order_of_the_patterns(name: str) -> None:
    rule = FOUND[name]
    patterns = [pattern for pattern, _ in rule.decisions]
    decided = list[tuple[re.Pattern[str], tuple[int, int]]]()

    def noted(_: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
        decided.append((match.re, match.span()))
        yield from ()

    noting = PatternRule([(pattern, noted) for pattern in patterns])
    for text in TEXTS:
        assert not list(noting(ParsedText.read(text, Format.TEXT)))
    assert decided == [
        (pattern, match.span())
        for text in TEXTS
        for pattern in patterns
        for match in pattern.finditer(text)
    ]
    assert decided
