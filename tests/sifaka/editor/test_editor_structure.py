"""The structure of documents, as readers of other people see it, before and after edits."""

from pathlib import Path

import pytest

from sifaka.editor import edit
from sifaka.text.formats import Format, recognise
from tests.formats_corpus.scramble import scrambled
from tests.formats_corpus.skeletons import skeleton
from tests.sifaka.editor.test_editor_formats import MENDED

ROOT = Path(__file__).parents[3]
# Of these readers the others are programs, which `make formats-corpus` uses.
SAMPLES = (Format.RST, Format.LATEX, Format.HTML)
DOCUMENTS = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])


@pytest.mark.parametrize("format_", SAMPLES)
def test_edits_of_a_sample_leave_its_structure(format_: Format) -> None:
    text, _ = MENDED[format_]
    same_structure(text, format_)


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


def test_a_title_keeps_the_width_of_its_underline() -> None:
    text = "The alot of it\n==============\n\nThe text is ``here``, in alot of places.\n"
    assert edit(text, format=Format.RST).text.startswith("The alot of it\n==============\n")


def test_a_title_that_is_referred_to_stays() -> None:
    text = "Recieve it\n==========\n\nSee `Recieve it`_ when you recieve it.\n"
    done = edit(text, format=Format.RST).text
    assert done == text.replace("you recieve", "you receive")


def test_a_wrapped_line_keeps_its_indentation() -> None:
    text = "- All of this differs from the\n  the other one, in\n  order to be seen.\n"
    done = edit(text).text
    assert done.startswith("- All of this differs from the\n  other one")


def test_the_label_of_a_markdown_link_stays() -> None:
    links = "[the recieve page]: /a\n[recieve]: /b\n"
    text = f"You recieve it, see [the recieve page] and [recieve][].\n\n{links}"
    assert edit(text).text == text.replace("You recieve", "You receive")
