"""Texts made to be slow are read in time that grows with their length."""

from functools import partial
from itertools import product

import pytest

from sifaka.text.formats import READERS, Format, marks, recognise
from tests.stubs.cost import seconds

PIECES = (
    "`", "``", "|", "[[", "<", "{", "$", "\\", "\\begin{tabular}", "\\a{", "&a", "\"", "=",
    "- ", ".. a::\n", "a::\n\n  b\n\n", "====  ====\n", "+--+\n", ":a:`", "a_", "a.", " ",
    "#+begin_src\n", "~a ", "----\n", "msgstr \"", "<a ", "<script>", "<!--", "import a\n",
    "<A {", "```\n", "\\verb|", "(((", "%(", "@@",
)  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize("format_", [None, *READERS])
def test_a_repeated_piece_takes_no_quadratic_time(format_: Format | None) -> None:
    # A quadratic reader takes a minute for the first of them.
    read = recognise if format_ is None else partial(marks, format=format_)
    for piece in PIECES:
        text = piece * (20_000 // len(piece))
        assert seconds(partial(read, text)) < 5, piece


def test_marks_lie_in_the_text_and_are_not_empty() -> None:
    for piece, format_ in product(PIECES, READERS):
        text = f"{piece}The {piece} text.\n" * 3
        assert all(0 <= a < b <= len(text) for a, b, _ in marks(text, format_))
