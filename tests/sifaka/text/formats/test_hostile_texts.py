"""Texts made to be slow are read in time that grows with their length."""

import time
from itertools import product

import pytest

from sifaka.text.formats import READERS, Format, marks, recognise

PIECES = (
    "`", "``", "|", "[[", "<", "{", "$", "\\", "\\begin{tabular}", "\\a{", "&a", "\"", "=",
    "- ", ".. a::\n", "a::\n\n  b\n\n", "====  ====\n", "+--+\n", ":a:`", "a_", "a.", " ",
    "#+begin_src\n", "~a ", "----\n", "msgstr \"", "<a ", "<script>", "<!--", "import a\n",
    "<A {", "```\n", "\\verb|", "(((", "%(", "@@",
)  # fmt: skip


def seconds(text: str, format_: Format | None) -> float:
    start = time.process_time()
    _ = recognise(text) if format_ is None else marks(text, format_)
    return time.process_time() - start


@pytest.mark.hostile
@pytest.mark.parametrize("format_", [None, *READERS])
def test_a_repeated_piece_takes_no_quadratic_time(format_: Format | None) -> None:
    # A quadratic reader takes a minute for the first of them.
    for piece in PIECES:
        text = piece * (20_000 // len(piece))
        assert seconds(text, format_) < 5, piece


def test_marks_lie_in_the_text_and_are_not_empty() -> None:
    for piece, format_ in product(PIECES, READERS):
        text = f"{piece}The {piece} text.\n" * 3
        assert all(0 <= a < b <= len(text) for a, b, _ in marks(text, format_))
