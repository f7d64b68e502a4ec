"""What is code, markup or verbatim stays, fenced or not; the prose around it is mended."""

import tomllib
from pathlib import Path

import pytest

from sifaka.editor import edit, lint, protected
from sifaka.text.formats import Format, recognise
from tests.formats_corpus.scramble import scrambled
from tests.formats_corpus.skeletons import skeleton

SAMPLES = Path(__file__).with_name("samples")
MENDED = {
    Format.RST: ("sample.rst", ["recieve"] * 5 + ["a"]),
    Format.LATEX: ("sample.tex", ["recieve", "recieve", "a", "recieve"]),
    Format.HTML: ("sample.html", ["recieve", "recieve", "recieve", "a"]),
    Format.MDX: ("sample.mdx", ["recieve", "recieve"]),
}


@pytest.mark.parametrize("format_", MENDED)
def test_the_prose_of_a_format_is_mended_and_nothing_else(format_: Format) -> None:
    name, mended = MENDED[format_]
    text = (SAMPLES / name).read_bytes().decode()
    assert recognise(text) is format_
    assert sorted(entry.before for entry in edit(text).edits) == sorted(mended)
    inside = protected(text, format_)
    for issue in lint(text).issues:
        start, end = issue.start or 0, issue.end or 0
        assert not any(a < end and start < b for a, b in inside), issue


PYTHON = '''\
"""We recieve teh data."""
import os


def recieve_it(untill: int) -> str:
    # We do it untill the adress is neccessary.
    return teh("recieve teh")  # noqa: teh
'''


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (PYTHON, "module.py"),
        ("int recieve(int teh);\n", "recieve.h"),
        ('{"teh": "recieve it"}', None),
        ("name: We recieve it.\n", "teh.yaml"),
    ],
)
def test_code_and_data_are_not_checked_and_that_is_said(text: str, path: str | None) -> None:
    format_ = recognise(text, path)
    assert edit(text, format=format_).text == text
    found = lint(text, format=format_)
    assert (found.issues, found.checked) == ((), False)
    (line,) = found.degraded
    assert line.startswith("format: ")
    assert line.endswith("is not checked")


ROOT = Path(__file__).parents[3]
# Of these readers the others are programs, which `make formats-corpus` uses.
READ = (Format.RST, Format.LATEX, Format.HTML)
DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("editor", "plugins", "tutorial", "hosts")),
]
"""Those in which lists, tables, code and formulas of all kinds stand."""


@pytest.mark.parametrize("format_", READ)
def test_edits_of_a_sample_leave_its_structure(format_: Format) -> None:
    name, _ = MENDED[format_]
    same_structure((SAMPLES / name).read_bytes().decode(), format_)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_edits_of_a_document_leave_its_structure(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    same_structure(text, recognise(text, path))


def same_structure(text: str, format_: Format) -> None:
    before = skeleton(text, format_)
    done = edit(text, format=format_)
    assert skeleton(done.text, format_) == before
    other, words = scrambled(text, format_)
    assert words
    assert skeleton(other, format_) == before


def test_titles_of_rst_keep_their_width_and_what_is_referred_to() -> None:
    text = "The alot of it\n==============\n\nThe text is ``here``, in alot of places.\n"
    assert edit(text, format=Format.RST).text.startswith("The alot of it\n==============\n")
    text = "Recieve it\n==========\n\nSee `Recieve it`_ when you recieve it.\n"
    done = edit(text, format=Format.RST).text
    assert done == text.replace("you recieve", "you receive")


def test_lines_and_labels_of_markdown_stay_where_they_are() -> None:
    text = "- All of this differs from the\n  the other one, in\n  order to be seen.\n"
    done = edit(text).text
    assert done.startswith("- All of this differs from the\n  other one")
    links = "[the recieve page]: /a\n[recieve]: /b\n"
    text = f"You recieve it, see [the recieve page] and [recieve][].\n\n{links}"
    assert edit(text).text == text.replace("You recieve", "You receive")


BLOCKS: dict[str, str] = tomllib.loads((SAMPLES / "unfenced.toml").read_text("utf-8"))

BEFORE = "This is what they gave us to read.\n\n"
AFTER = "\n\nThat is the end of it.\n"


@pytest.mark.parametrize("name", BLOCKS)
def test_an_unfenced_block_comes_back_byte_for_byte(name: str) -> None:
    for text in (BLOCKS[name], BEFORE + BLOCKS[name] + AFTER):
        for variant in (text, text.replace("\n", "\r\n")):
            assert edit(variant).text == variant
            assert not [issue for issue in lint(variant).issues if issue.safe]


@pytest.mark.parametrize("name", BLOCKS)
def test_the_prose_around_it_is_edited_all_the_same(name: str) -> None:
    text = f"We recieve it.\n\n{BLOCKS[name]}\n\nIt is teh end of it.\n"
    expected = f"We receive it.\n\n{BLOCKS[name]}\n\nIt is the end of it.\n"
    assert edit(text).text == expected


@pytest.mark.parametrize(
    "wrong",
    [
        "Import the file from teh folder.",
        "Note: we recieve it.",
        "Pros: it is quick and teh price is low.\nCons: we recieve nothing.",
        "We recieve apples, pears and plums.\nThey get bread, milk and eggs.",
        "Use it for teh tests: we recieve\nit and return it to us;\nelse we keep it.",
        "Dear all,\nwe recieve teh parcel on Monday.\nBest,\nAnna",
        "While we wait, return to\nwith all of the\nclass of 1999, for teh last time",
        "At 10:30 we recieve it. WARNING: teh door is open.",
        "## Import teh data\n\nGo to teh page and let it load;\nthen close it.",
        "She asked: what if teh train is late?\nThen we recieve nothing (at all).",
        "Name: Anna Smith\nRole: teh leader",
        "Go to the shop; teh door is open; it is late;\nthen we recieve it;\n",
    ],
)
def test_prose_that_shares_words_with_programs_is_edited(wrong: str) -> None:
    assert edit(wrong).text == wrong.replace("recieve", "receive").replace("teh", "the")
