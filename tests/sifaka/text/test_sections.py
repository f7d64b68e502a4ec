"""The one reader of Markdown, the sections of a text, and the terms that they share."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.text.markdown import Markdown, code_spans, front_matter, open_fence
from sifaka.text.sections import MOST_TERMS, labelled, outline, overlapping, shared_terms, split
from tests.stubs.cost import seconds

_PIECES = [*"ab.# \n\r\t`~-=*1>|[]\u2028\x85é", "\n\n", "\r\n", "```", "~~~", "## ", "---\n", "- "]
MARKDOWN = st.lists(st.sampled_from(_PIECES), max_size=300).map("".join)


@given(MARKDOWN)
def test_blocks_are_the_whole_text_and_fences_stand_at_their_marks(text: str) -> None:
    document = Markdown(text)
    blocks = "".join(text[each.start : each.end] for each in document.blocks)
    assert blocks == text[document.start :]
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
        ("| `a` | b |\n|---|---|\n| `c` | d |", ["`a`", "`c`"]),
        ("    `indented`", ["`indented`"]),
        ("(`the wall\nis red`, `by a and by b`), and", ["`the wall\nis red`", "`by a and by b`"]),
    ],
)
def test_code_is_fences_and_what_stands_between_backticks(text: str, spans: list[str]) -> None:
    assert [text[slice(*span)] for span in code_spans(text)] == spans


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("---\na: b\n---\nc", 13),
        ("\ufeff---\r\na: b\r\n...\r\nc", 17),
        ("+++\n[a]\n+++\nc", 12),
        ("---\n---\nc", 8),
        ("---\n\na: b\n\n---\n", 0),
        ("---\nA sentence.\n\n---\n", 0),
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


ANY = st.one_of(MARKDOWN, st.text(max_size=300))


def titles(text: str, most: int) -> list[str]:
    return [section.title for section in split(text, most)]


@given(text=ANY, most=st.integers(min_value=1, max_value=200))
def test_sections_put_together_are_the_text_byte_by_byte(text: str, most: int) -> None:
    sections = split(text, most)
    assert "".join(section.text for section in sections) == text
    assert all(0 < len(section.text) <= most for section in sections)
    assert [section.number for section in sections] == [n + 1 for n in range(len(sections))]
    assert all(one.end == other.start for one, other in pairwise(sections))


@given(text=ANY, most=st.integers(min_value=1, max_value=200))
def test_a_heading_of_a_section_is_what_it_begins_with(text: str, most: int) -> None:
    for section in split(text, most):
        assert section.text.startswith(section.heading) or len(section.heading) > most
        assert not section.heading or section.headings[0].title == section.title


def test_a_section_is_what_stands_under_a_heading() -> None:
    text = "# Book\n\n" + "".join(f"## {n}th\n\n{'word ' * 15}\n\n" for n in range(4))
    sections = split(text, 100)
    assert [s.text.strip().splitlines()[-1].strip() for s in sections] == [
        ("word " * 15).strip() for _ in sections
    ]
    assert [h.title for s in sections for h in s.headings] == ["Book", "0th", "1th", "2th", "3th"]
    assert sections[0].title == "Book", "a heading alone goes with what it stands above"
    assert [s.title for s in sections[1:]] == ["1th", "2th", "3th"]


def test_a_heading_alone_goes_with_the_beginning_of_what_it_stands_above() -> None:
    text = f"# Book\n\n## Long\n\n{'word ' * 15}\n\n{'more ' * 15}\n\n## Next\n\nshort\n"
    first, second, third = split(text, 100)
    assert [heading.title for heading in first.headings] == ["Book", "Long"]
    assert (second.text.strip(), second.title) == ("more " * 14 + "more", "Long")
    assert third.title == "Next"


def test_small_neighbours_are_taken_together_under_one_heading_alone() -> None:
    small = "".join(f"### S{n}\n\nshort\n\n" for n in range(6))
    text = f"## Big\n\n{'long ' * 30}\n\n## Small\n\n{small}## Last\n\n{'long ' * 30}\n"
    assert titles(text, 200) == ["Big", "Small", "Last"]
    chapter = "".join(f"## {{0}}{n}\n\n{'word ' * 12}\n\n" for n in range(2))
    text = "".join(f"# {c}\n\n{chapter.format(c)}" for c in "AB")
    for section in split(text, 130):
        assert len({heading.title[0] for heading in section.headings}) == 1


@pytest.mark.parametrize(
    "code",
    [
        "```python\n# not a heading\n```\n",
        "~~~\n# not a heading\n```\n# nor this\n~~~\n",
        "- item\n\n  ```\n  # not a heading\n  ```\n",
    ],
)
def test_what_looks_like_a_heading_in_code_is_none(code: str) -> None:
    text = f"# Real\n\nbefore\n\n{code}\n# Next\n\nafter\n"
    (section,) = split(text, 1000)
    assert [heading.title for heading in section.headings] == ["Real", "Next"]


@pytest.mark.parametrize("marks", ["---", "+++"])
def test_front_matter_is_a_section_of_its_own_and_has_no_headings(marks: str) -> None:
    front = f"{marks}\ntitle: x\n# a comment\n{marks}\n"
    first, second = split(f"{front}# Real\n\nbody\n", 1000)
    assert (first.text, first.literal, first.headings) == (front, True, ())
    assert (second.title, second.literal) == ("Real", False)


def test_lines_under_a_paragraph_make_it_a_heading() -> None:
    (section,) = split("Title\n=====\n\nbody\n\nLess\n----\n\nmore\n\n- item\n---\n", 1000)
    assert section.heading == "Title\n=====\n"
    assert [(h.level, h.title) for h in section.headings] == [(1, "Title"), (2, "Less")]


def test_a_text_without_headings_is_divided_at_paragraphs() -> None:
    paragraphs = [f"{'word ' * 10}{n}.\n\n" for n in range(10)]
    sections = split("".join(paragraphs), 120)
    assert [section.text for section in sections] == [
        "".join(paragraphs[n : n + 2]) for n in range(0, 10, 2)
    ]
    assert [section.number for section in sections] == [1, 2, 3, 4, 5]


def test_paragraphs_lists_and_tables_that_are_long_are_divided_where_their_parts_end() -> None:
    text = "This is one sentence of several. " * 20
    assert all(section.text.endswith(". ") for section in split(text, 150))
    items = "".join(f"- item {n} has some words. And more\n  goes on here\n" for n in range(30))
    assert all(section.text.startswith("- item") for section in split(items, 200))
    rows = "".join(f"| cell {n} | a b. c |\n" for n in range(30))
    assert all(section.text.startswith("| cell") for section in split(rows, 200))
    items = "- one\n\n  goes on\n\n- two\n- three\n\n"
    text = "Intro words here.\n\n" * 4 + items + "After the list.\n"
    assert sum(items in section.text for section in split(text, 90)) == 1


def test_code_that_is_too_long_is_marked_as_not_to_be_worded_anew() -> None:
    text = "# A\n\nBefore it.\n\n```\n" + "code line\n" * 30 + "```\n\nAfter it.\n"
    sections = split(text, 100)
    assert [s.literal for s in sections if "code" in s.text] == [True] * 4
    assert not sections[0].literal
    assert not sections[-1].literal


def test_windows_line_ends_are_not_cut_in_two() -> None:
    text = "# A\r\n\r\n" + "word\r\n" * 50
    assert not any(section.text.startswith("\n") for section in split(text, 40))
    assert split("Title\r\n===\r\n\r\nbody", 100)[0].heading == "Title\r\n===\r\n"


def test_the_outline_has_every_heading_or_leaves_out_the_deepest() -> None:
    assert outline(split("# A\n\n## B\n\nx\n\n# C\n", 100)) == "A\n  B\nC"
    many = "# Top\n\n" + "".join(f"## Head {n}\n\n### Under {n}\n\n" for n in range(150))
    told = outline(split(many, 10_000))
    assert "Head 149" in told
    assert "Under" not in told
    assert len(outline(split("# aaaaaaaaa\n" * 1000, 10_000))) <= 3_000


def test_a_label_is_known_again() -> None:
    section = split("# Odd ] title [x]\n\nbody\n", 100)[0]
    assert labelled(f"{section.label} say more") == (1, "say more")
    assert labelled("say more") == (None, "say more")


def test_a_place_belongs_to_the_sections_it_touches() -> None:
    sections = split("a" * 25, 10)
    assert [s.number for s in overlapping(sections, 5, 10)] == [1]
    assert [s.number for s in overlapping(sections, 5, 11)] == [1, 2]
    assert [s.number for s in overlapping(sections, 10, 10)] == [2]
    assert [s.number for s in overlapping(sections, 25, 25)] == [3]


@pytest.mark.parametrize("mark", ["…", ".", '."', "!)"])
def test_a_text_of_nothing_but_marks_is_split_in_proportion_to_its_length(mark: str) -> None:
    text = mark * (500_000 // len(mark))
    assert "".join(section.text for section in split(text, 12_000)) == text


def shared(*parts: str) -> set[str]:
    return {term for terms in shared_terms(parts) for term in terms}


@pytest.mark.parametrize(
    ("one", "other", "terms"),
    [
        ("We ask the Blue Harbor Team.", "The Blue Harbor Team knows.", {"Blue Harbor Team"}),
        ("Ask the Bank of England.", "So says the Bank\nof England.", {"Bank of England"}),
        ("A unit of service (UOS) is due.", "Each UOS costs.", {"UOS"}),
        ("Call `run()` first.", "Then `run()` again.", {"run()"}),
        ("Set max_calls.", "It obeys max_calls.", {"max_calls"}),
        ("The Blue Harbor is near.", "Near the Blue Harbor.", {"Blue Harbor"}),
        ("The HttpClient opens.", "An HttpClient closes.", {"HttpClient"}),
        ("A “warm start” helps.", 'No "warm start" here.', {"warm start"}),
    ],
)
def test_a_term_of_two_parts_is_shared(one: str, other: str, terms: set[str]) -> None:
    assert shared(one, other) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NASA said so.", "NASA never defined it in brackets."),
        ("Moreover Berlin grew.", "Moreover Berlin shrank."),
        ("Please Note this.", "Please Note that."),
    ],
)
def test_what_is_no_term_or_stands_in_one_part_is_not_shared(one: str, other: str) -> None:
    assert shared(one, other) == set()


def test_each_part_has_its_own_terms_in_bounds() -> None:
    first, second, third = shared_terms(["Blue Harbor", "Blue Harbor and Red Tower", "Red Tower"])
    assert (first, third) == ({"Blue Harbor"}, {"Red Tower"})
    assert second == {"Blue Harbor", "Red Tower"}
    many = " x ".join(f"some_name_{n}" for n in range(3 * MOST_TERMS))
    found = shared_terms([many, many])
    assert len(found[0]) == MOST_TERMS
    assert found == shared_terms([many, many])
