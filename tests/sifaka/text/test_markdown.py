"""The one reader of Markdown."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.text.markdown import Markdown, code_spans, front_matter, open_fence
from tests.stubs.cost import seconds

_PIECES = [*"ab.# \n\r\t`~-=*1>|[]\u2028\x85é", "\n\n", "\r\n", "```", "~~~", "## ", "---\n", "- "]
MARKDOWN = st.lists(st.sampled_from(_PIECES), max_size=300).map("".join)


def code(text: str) -> list[str]:
    return [text[slice(*span)] for span in code_spans(text)]


@given(MARKDOWN)
def test_blocks_are_the_whole_text_and_fences_stand_at_their_marks(text: str) -> None:
    document = Markdown(text)
    assert (
        "".join(text[each.start : each.end] for each in document.blocks) == text[document.start :]
    )
    assert all(one.end == other.start for one, other in pairwise(document.blocks))
    assert all(each.start <= each.stop <= each.end for each in document.blocks)
    for fence in document.fences:
        assert text.startswith(fence.mark, fence.start)
        assert fence.line <= fence.start < fence.end <= len(text)


@given(MARKDOWN)
def test_a_block_of_code_that_is_left_open_is_closed_by_its_mark(text: str) -> None:
    fence = open_fence(text)
    assert not fence or not open_fence(f"{text}\n{fence}")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_blocks_have_their_kind_their_level_and_their_place(newline: str) -> None:
    text = "\n# One #\n\nA\nB\n---\n\u2028text\n\n- x\n\n  ```\n  y\n\n1) z\n\n[a]: b\n"
    text = f"{text}```c\n# d\n```\n".replace("\n", newline)
    blocks = Markdown(text).blocks
    assert [(each.kind, each.level, each.title) for each in blocks] == [
        ("other", 0, ""),
        ("heading", 1, "One"),
        ("heading", 2, "A B"),
        ("other", 0, ""),
        ("list", 0, ""),
        ("list", 0, ""),
        ("other", 0, ""),
        ("fence", 0, ""),
    ]
    assert text[blocks[2].start : blocks[2].stop] == f"A{newline}B{newline}---{newline}"


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("a `b` ``c`d`` e", ["`b`", "``c`d``"]),
        ("x\n```py\ny `z\n```\n`w`", ["```py\ny `z\n```", "`w`"]),
        ("> ~~~\n> a\n\nb `c`", ["~~~\n> a", "`c`"]),
        ("- item\n\n  ```\n  a\n  ```\n", ["```\n  a\n  ```"]),
        ("a ` stray\nand `b` here", ["`b`"]),
        ("```\nopen `to` the end\n", ["```\nopen `to` the end"]),
        ("| `a` | b |\n|---|---|\n| `c` | d |", ["`a`", "`c`"]),
        ("    `indented`", ["`indented`"]),
        ("no code", []),
    ],
)
def test_code_is_fences_and_what_stands_between_backticks(text: str, spans: list[str]) -> None:
    assert code(text) == spans


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("---\na: b\n---\nc", 13),
        ("\ufeff---\r\na: b\r\n...\r\nc", 17),
        ("+++\n[a]\n+++\nc", 12),
        ("---\n---\nc", 8),
        ("---\n\na: b\n\n---\n", 0),
        ("---\nA sentence.\n\n---\n", 0),
        ("---\na: b\n", 0),
        ("", 0),
    ],
)
def test_front_matter_is_what_looks_like_data_between_rules(text: str, length: int) -> None:
    assert front_matter(text) == length


@pytest.mark.hostile
@pytest.mark.parametrize(
    "piece",
    [
        *("`", "` ", "``` ", "```\n", "~~~", "~~~\n", "> ", ">\n", "- ", "- a\n", "* * *\n", "1) "),
        *("[", "[a", "[a]: ", "[a]: b\n", "|", "|a\n|-\n", "a\n", "a\n=\n", "#", "# a\n", "<!--"),
        *("<a\n", "\t", "\n", "\\`", "---\n"),
        "".join("`" * n + " " for n in range(100)),
        "".join("  " * n + "- a\n" for n in range(100)),
        "".join(">" * n + " a\n" for n in range(100)),
        ">" * 50 + "a\n" * 1000,
    ],
)  # fmt: skip
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def read(length: int) -> None:
        document = Markdown((piece * (length // len(piece) + 1))[:length])
        assert document.blocks
        assert len(document.code) <= length

    # Quadratic time would be sixteen times as much, each time; other work may slow one of them.
    assert any(
        seconds(lambda: read(20_000)) < max(0.5, 10 * seconds(lambda: read(5_000)))
        for _ in range(3)
    )


def test_code_over_two_lines_leaves_the_code_behind_it_whole() -> None:
    text = "He said (`the wall\nis red`, `found by a and by b`), and left."
    assert [text[start:end] for start, end in code_spans(text)] == [
        "`the wall\nis red`",
        "`found by a and by b`",
    ]
