"""The format of a text, by the name of its file or by its look."""

from functools import partial
from itertools import product

import pytest

from sifaka.text.formats import READERS, Format, marks, recognise
from tests.stubs.cost import seconds

PROSE = "The meeting is on Monday, and all of us are going to be there.\n"


@pytest.mark.parametrize(
    ("path", "format_"),
    [
        ("notes.md", Format.MARKDOWN),
        ("page.mdx", Format.MDX),
        ("_sources/index.rst.txt", Format.RST),
        ("guide.adoc", Format.SOURCE),
        ("de.po", Format.DATA),
        ("notes.txt", Format.TEXT),
        ("README", Format.MARKDOWN),
        ("release-1.2", Format.MARKDOWN),
        ("module.py", Format.SOURCE),
        ("Makefile", Format.SOURCE),
        ("requirements.txt", Format.DATA),
    ],
)
def test_the_name_of_a_file_shows_its_format(path: str, format_: Format) -> None:
    assert recognise(PROSE, path) is format_


LOOKS = {
    Format.RST: "Title\n=====\n\nSee ``this``::\n\n    code\n\n.. note:: Read it.\n",
    Format.LATEX: "\\section{One}\nThe text.\n\n\\begin{itemize}\n\\item One.\n\\end{itemize}\n",
    Format.HTML: "<!-- made by hand -->\n<!DOCTYPE html>\n<title>One</title>\n<p>The text.\n",
    Format.MDX: "# Title\n\n<Note>\nThe text.\n</Note>\n",
    Format.DATA: '[{"one": 1}]',
    Format.SOURCE: "import os\n\n\ndef one(two):\n    return two\n\n\ndef three():\n    return 1\n",
}


@pytest.mark.parametrize("format_", LOOKS)
def test_a_text_without_a_name_is_recognised_by_its_look(format_: Format) -> None:
    assert recognise(LOOKS[format_]) is format_
    assert recognise(LOOKS[format_].replace("\n", "\r\n")) is format_


def test_asciidoc_has_no_reader() -> None:
    text = "NAME\n----\nx - do it\n\nOPTIONS\n-------\n--all::\n\tAll of it.\n+\nMore.\n"
    assert recognise(text) is Format.SOURCE
    assert recognise(text.replace("\n", "\r\n")) is Format.SOURCE


def test_a_catalogue_of_messages_is_data() -> None:
    text = '# Ours\nmsgid "one"\nmsgid_plural "many"\nmsgstr[0] "two"\n'
    assert recognise(text) is Format.DATA
    assert recognise(f"{PROSE}\n```\n{text}```\n") is Format.MARKDOWN


@pytest.mark.parametrize("format_", LOOKS)
def test_markdown_that_shows_another_format_in_a_fence_is_markdown(format_: Format) -> None:
    text = f"# How to write it\n\n{PROSE}\n```\n{LOOKS[format_]}```\n\n{PROSE}"
    assert recognise(text) is Format.MARKDOWN


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "# Title\n\nThe costs are $5 {per head} and <b>more</b>.\n",
        "Title\n=====\n\nThe text, as Markdown has it: `code`.\n\nMore\n----\n\nText.\n",
        "Use <Name> and <Address> as they are.\n\n<Name>\nis yours.\n",
        "The function ends:\n\n    return one;\n\nThat is all there is to it.\n",
        "The command \\section{One} makes a title, and \\label{one} names it.\n",
        "---\ntitle: One\n---\n\nThe text.\n",
        "To: all\nSubject: one\n\n* One thing\n* Another thing\n",
    ],
)
def test_ordinary_texts_are_markdown_in_doubt(text: str) -> None:
    assert recognise(text) is Format.MARKDOWN


@pytest.mark.parametrize(
    "text",
    [
        ".TH ONE 1\n.SH NAME\none \\- do it\n",
        "* Title\n:PROPERTIES:\n:ID: x\n:END:\nThe text.\n",
    ],
)
def test_markup_without_a_reader_is_source(text: str) -> None:
    assert recognise(text) is Format.SOURCE


PIECES = (
    "`", "``", "|", "[[", "<", "{", "$", "\\", "\\begin{tabular}", "\\a{", "&a", "\"", "=",
    "- ", ".. a::\n", "a::\n\n  b\n\n", "====  ====\n", "+--+\n", ":a:`", "a_", "a.", " ",
    "#+begin_src\n", "~a ", "----\n", "msgstr \"", "<a ", "<script>", "<!--", "import a\n",
    "<A {", "```\n", "\\verb|", "(((", "%(", "@@",
)  # fmt: skip
PAIRS = ('"a" ', "'a' ", "`a` ", "{a} ", "[a] ", "(a) ", "<a> ", "*a* ")


@pytest.mark.hostile
@pytest.mark.parametrize("format_", [None, *sorted(READERS)])
def test_a_repeated_piece_takes_no_quadratic_time(format_: Format | None) -> None:
    # A quadratic reader takes a minute for the first of them.
    read = recognise if format_ is None else partial(marks, format=format_)
    for piece in PIECES:
        text = piece * (20_000 // len(piece))
        assert seconds(partial(read, text)) < 5, piece


@pytest.mark.parametrize("format_", sorted(READERS))
def test_pairs_behind_an_opening_are_read_in_one_way(format_: Format) -> None:
    # Read in two ways, each pair takes twice the time: two hundred of them would never end.
    for opening, pair in product(PIECES, PAIRS):
        marks(opening + pair * 200, format_)


def test_marks_lie_in_the_text_and_are_not_empty() -> None:
    for piece, format_ in product(PIECES, sorted(READERS)):
        text = f"{piece}The {piece} text.\n" * 3
        assert all(0 <= a < b <= len(text) for a, b, _ in marks(text, format_))
