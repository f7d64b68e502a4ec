"""The two tiers of fixes, and the grammar that the editor mends by itself."""

import pytest

from benchmarks.quality.editor.labelled import load
from benchmarks.quality.editor.measure import total
from sifaka.chain import Chain
from sifaka.editor import apply, edit, lint

CERTAIN = [
    ("She wants three apple and two child.", "She wants three apples and two children."),
    ("Its definately late, and its a pity.", "It's definitely late, and it's a pity."),
    ("The shop closed it's doors in May.", "The shop closed its doors in May."),
    ("If your passionate, your welcome.", "If you're passionate, you're welcome."),
    ("Their is a dog in there garden.", "There is a dog in their garden."),
    ("We where older then them.", "We were older than them."),
    ("It could of been to late.", "It could have been too late."),
    ("He lives in in a town and depends on on the bus.",
     "He lives in a town and depends on the bus."),
    ("It was written by by a friend.", "It was written by a friend."),
    ("I know that i cant come on monday.", "I know that I can't come on Monday."),
    ("Thanks alot, she is teacher at the school.", "Thanks a lot, she is a teacher at the school."),
]  # fmt: skip
RIGHT = [
    "The people you work for for free, and the house they live in in summer.",
    "Did he go? Let it go. I suggest that he go and that she be told.",
    "If I were you, its colour and your right to appeal would matter.",
    "All the money he had went to charity; what he does does not matter.",
    "It is they who have to decide where we were and what they have.",
    "The variable i is an index, and x and i are numbers.",
    "It was passed by by chance, as on page two of three.",
    "He need not come. Is there support for Windows? It must of necessity fail.",
    "In order to win, it utilizes both. However you do it, it works (eg here).",
]


@pytest.mark.parametrize(("wrong", "right"), CERTAIN)
def test_grammar_that_is_certain_is_mended(wrong: str, right: str) -> None:
    done = edit(wrong)
    assert done.text == right
    assert edit(done.text).edits == ()


@pytest.mark.parametrize("text", RIGHT)
def test_right_grammar_that_looks_wrong_stays(text: str) -> None:
    assert edit(text).text == text


@pytest.mark.parametrize("text", ["The companys logo is red.", "We saw the countrys flag."])
def test_a_possessive_without_its_apostrophe_does_not_become_a_plural(text: str) -> None:
    assert edit(text).text == text


def test_a_verb_that_does_not_agree_is_suggested_and_not_mended() -> None:
    assert edit("She dont know where he go.").text == "She doesn't know where he go."
    text = "She dont know where he go."
    assert edit(text, fixes="suggested").text == "She doesn't know where he goes."


def test_suggested_fixes_are_applied_when_asked_for() -> None:
    text = "I seen the the fox. We bought apples,pears and plums."
    safe = "I seen the fox. We bought apples,pears and plums."
    everything = "I saw the fox. We bought apples, pears and plums."
    assert edit(text).text == safe
    assert edit(text, fixes="suggested").text == everything
    assert edit(everything, fixes="suggested").edits == ()


def test_a_suggestion_with_a_choice_of_fixes_is_never_applied() -> None:
    text = "The manger of the inn had no room."
    unclear = [issue for issue in lint(text).issues if issue.fix is None]
    assert apply(text, unclear, fixes="suggested").text == text


def test_numbers_and_negations_stay_with_suggested_fixes_too() -> None:
    text = "She doesn't have no money. I no what you mean."
    assert edit(text, fixes="suggested").text == text


def test_a_chain_makes_suggested_fixes_when_asked_for() -> None:
    text = "I seen the fox."
    assert Chain(model="editor").run_sync(text=text).text == text
    chain = Chain(model="editor", fixes="suggested")
    assert chain.run_sync(text=text).text == "I saw the fox."


def test_no_right_sentence_is_edited_however_wrong_it_looks() -> None:
    tricky = load("tricky")
    assert len(tricky) >= 400
    assert [sample.text for sample in tricky if edit(sample.text).changed] == []


def test_the_held_out_sentences_meet_the_goals() -> None:
    samples = load("held_out")
    safe, suggested = total(samples, "safe"), total(samples, "suggested")
    assert safe.mended >= 0.5 * safe.mistakes
    assert suggested.mended >= 0.65 * suggested.mistakes
    assert safe.wrong * 200 <= safe.edits
    assert safe.broken == 0
