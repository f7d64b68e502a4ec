"""Shortening at the end of a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.editor import cut

TEXT = "First one. Second, e.g. this one! Third?\n\nA new paragraph. The end.\n"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (0, None),
        (9, None),
        (10, "First one."),
        (32, "First one."),
        (33, "First one. Second, e.g. this one!"),
        (45, "First one. Second, e.g. this one! Third?"),
        (1000, TEXT.rstrip()),
    ],
)
def test_the_longest_beginning_that_fits_is_kept(limit: int, expected: str | None) -> None:
    assert cut(TEXT, limit) == expected


@given(st.text(alphabet="ab .!?\n#|`", max_size=80), st.integers(0, 90))
def test_the_result_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    result = cut(text, limit)
    assert result is None or (text.startswith(result) and 0 < len(result) <= limit)
    assert result is None or result == result.rstrip()


def test_it_never_ends_inside_a_code_block() -> None:
    text = "Run this.\n\n```\nfirst. second.\n\nthird.\n```\n\nThe end is here."
    for limit in range(9, text.index("The end")):
        result = cut(text, limit)
        assert result is not None
        assert result.count("```") in (0, 2)


def test_it_never_ends_inside_a_table() -> None:
    table = "| a. | b. |\n|---|---|\n| one. | two. |\n| three. | four. |"
    text = f"See the table.\n\n{table}\n\nThe end is here."
    for limit in range(14, text.index("The end")):
        result = cut(text, limit)
        assert result is not None
        assert "|" not in result or result.endswith(table)


def test_a_heading_or_an_announcement_is_not_left_dangling() -> None:
    text = (
        "The first part is over.\n\n## Prices\n\nWe sell these things:\n\n- A thing that costs ten."
    )
    for limit in range(23, len(text) - 1):
        assert cut(text, limit) == "The first part is over."
