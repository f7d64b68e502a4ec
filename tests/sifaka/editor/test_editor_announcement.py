"""The example text that the demo improves."""

from sifaka.editor import edit
from sifaka.text.markdown import code_spans
from sifaka.text.prose import urls
from sifaka.text.words import words
from sifaka_mcp.cli.improve import TEXT as FILE

TEXT = FILE.read_text(encoding="utf-8")


def test_the_editor_removes_every_mistake_that_was_put_in() -> None:
    done = edit(TEXT)
    assert {e.rule for e in done.edits} == {
        "misspelling", "repeated_word", "article", "double_space", "encoding", "contraction",
        "space_before_punctuation", "then_than",
    }  # fmt: skip
    for mistake in ("untill", "recieved", "the the", "a easy", "â€™", "wouldnt", " ,", " !"):
        assert mistake in TEXT
        assert mistake not in done.text


def test_code_and_addresses_of_it_stay() -> None:
    done = edit(TEXT).text
    kept = [done[a:b] for a, b in code_spans(done)]
    assert kept == [TEXT[a:b] for a, b in code_spans(TEXT)] != []
    assert [done[a:b] for a, b in urls(done)] == [TEXT[a:b] for a, b in urls(TEXT)] != []


def test_it_is_a_little_longer_than_three_hundred_words_also_after_the_edit() -> None:
    done = edit(TEXT).text
    assert TEXT.count("world-class") == 1
    assert 300 < len(words(done)) < len(words(TEXT)) < 345
