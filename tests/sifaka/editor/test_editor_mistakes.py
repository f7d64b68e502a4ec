"""Real mistakes and the words they become, and right texts, in which an edit would be a mistake."""

from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.quality.editor.labelled import load
from benchmarks.quality.editor.measure import total
from sifaka.chain import Chain
from sifaka.editor import apply, edit, lint
from sifaka.editor.protection import foreign

CLEAN = Path(__file__).with_name("samples") / "clean"
MISTAKES = [
    # spelling
    ("We recieve the parcel on Monday.", "We receive the parcel on Monday."),
    ("The error occured twice today.", "The error occurred twice today."),
    ("She wrote teh report on time.", "She wrote the report on time."),
    ("This is a wierd result for us.", "This is a weird result for us."),
    # repeated words
    ("We went to the the office again.", "We went to the office again."),
    ("This line ends with the\nthe word that begins the next.",
     "This line ends with the\nword that begins the next."),
    ("They came with with with their friends.", "They came with their friends."),
    ("They read a book to a a child.", "They read a book to a child."),
    # articles
    ("He ate a apple after lunch.", "He ate an apple after lunch."),
    ("A error was found in the log.", "An error was found in the log."),
    ("This is an user of the system.", "This is a user of the system."),
    ("He is an European citizen by birth.", "He is a European citizen by birth."),
    ("It took a hour to load the van.", "It took an hour to load the van."),
    # doubled verbs, and words doubled at the start of a sentence
    ("This is is a test of it.", "This is a test of it."),
    ("The the cat sat on the mat.", "The cat sat on the mat."),
    # capitals at the start of a sentence
    ("Teh door was open when we came.", "The door was open when we came."),
    ("It is late. Recieve them at the door.", "It is late. Receive them at the door."),
    # contractions
    ("We dont know and she doesnt care.", "We don't know and she doesn't care."),
    ("Isnt it too late for that now?", "Isn't it too late for that now?"),
    ("We could'nt go, and it is'nt late.", "We couldn't go, and it isn't late."),
    # participles, degrees, number
    ("The bug has been fix in version 2.", "The bug has been fixed in version 2."),
    ("Now it is more smarter than before.", "Now it is smarter than before."),
    ("It is the most easiest way to do it.", "It is the easiest way to do it."),
    ("It’s late and they havent come.", "It’s late and they haven’t come."),
    # spaces
    ("We like tea , coffee and milk.", "We like tea, coffee and milk."),
    ("What a day we had !", "What a day we had!"),
    # encoding
    ("We donâ€™t know what it means.", "We don’t know what it means."),
    ("It was good â€” very good indeed.", "It was good — very good indeed."),
]  # fmt: skip


CERTAIN = [
    ("It is an recieved parcel.", "It is a received parcel."),
    ("Informations are rare. It gave him few advices, but more informations and some advices.",
     "Informations are rare. It gave him few advices, but more information and some advice."),
    ("I like the childrens books and speak a little french.",
     "I like the children's books and speak a little French."),
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
    ("Thanks alot, the letter is responsible of that.",
     "Thanks a lot, the letter is responsible for that."),
    ("He shouldnt of been there.", "He shouldn't have been there."),
]  # fmt: skip
"""Mistakes whose mending takes grammar, and more than one round."""


@pytest.mark.parametrize(("wrong", "right"), [*MISTAKES, *CERTAIN])
def test_a_mistake_is_corrected_and_nothing_else(wrong: str, right: str) -> None:
    done = edit(wrong)
    assert done.text == right
    assert edit(right).edits == ()
    assert edit(wrong.replace("\n", "\r\n")).text == right.replace("\n", "\r\n")
    assert edit(wrong + "\n\nThis paragraph is fine.\n").text == right + (
        "\n\nThis paragraph is fine.\n"
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("We met an eunuch in the story.", "article"),
        ("Lenght Brothers opened a second shop.", "misspelling"),
        ("It works as follow: you type a word.", "harper.AsFollows"),
    ],
)
def test_what_is_not_certain_is_a_suggestion_and_not_applied(text: str, rule: str) -> None:
    found = [issue for issue in lint(text).issues if issue.rule == rule]
    assert [issue.safe for issue in found] == [False]
    assert edit(text).text == text


def test_a_negation_is_never_added_by_a_spelling_fix() -> None:
    text = "We can nto go there and we cannnot stay."
    assert edit(text).text == text
    assert not any(issue.safe for issue in lint(text).issues)


def test_issues_are_anchored_in_text_order_and_safe_ones_do_not_overlap() -> None:
    text = " ".join(wrong for wrong, _ in MISTAKES)
    issues = lint(text).issues
    assert len(issues) >= 20
    assert all(i.anchored and text[i.start : i.end].startswith(i.quote) for i in issues)
    assert [i.start for i in issues] == sorted(i.start or 0 for i in issues)
    text = "we dont want to to go  to the the the  shop , as teh that is a a apple ."
    spans = [(i.start or 0, i.end or 0) for i in lint(text).issues if i.safe]
    assert spans
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_a_preposition_that_stands_twice_may_belong_to_the_verb_before_it() -> None:
    text = "We live in in London. She logged in in London. The place they live in in May."
    done = text.replace("We live in in", "We live in")
    assert edit(text).text == edit(text, fixes="suggested").text == done


@pytest.mark.parametrize("name", ["american", "british", "dialogue", "technical"])
def test_a_clean_text_is_left_alone(name: str) -> None:
    text = (CLEAN / f"{name}.md").read_text("utf-8")
    assert [i for i in lint(text).issues if i.safe] == []
    assert edit(text).text == text
    windows = text.replace("\n", "\r\n")
    assert edit(windows).text == windows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "第一章　はじめに、ｆｕｌｌ！",
        "Привет , мир",
        "👩‍💻  👍",
        "\ufeffHello there.",
    ],
)
def test_odd_texts_are_no_problem(text: str) -> None:
    once = edit(text).text
    assert edit(once).text == once


DOUBLES = [
    "What it is is a mess, as we all know.",
    "The ones we have have been fixed.",
    "Knowing who he was was hard for us.",
    "It was their wont to go, and the cant of the trade.",
    "A request that the host cancels cancels its run.",
    "Wirth said that it was late.",
]


RIGHT = [
    *DOUBLES,
    "The companys logo is red.",
    "We saw the countrys flag.",
    "This is the first one.  It is followed by one more.  Then the last one comes.\n",
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


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_and_only_looks_wrong_stays(text: str) -> None:
    assert edit(text).text == text


def test_suggested_fixes_are_applied_only_when_asked_for_and_certain() -> None:
    text = "She dont know what they goes for. Yesterday he come home."
    assert edit(text).text == text.replace("dont", "doesn't")
    everything = "She doesn't know what they go for. Yesterday he come home."
    assert edit(text, fixes="suggested").text == everything

    text = "I seen the the fox."
    safe = "I seen the fox."
    everything = "I saw the fox."
    assert edit(text).text == safe
    assert edit(text, fixes="suggested").text == everything
    assert edit(everything, fixes="suggested").edits == ()

    text = "The manger of the inn had no room."
    unclear = [issue for issue in lint(text).issues if issue.fix is None]
    assert apply(text, unclear, fixes="suggested").text == text
    text = "She doesn't have no money. I no what you mean."
    assert edit(text, fixes="suggested").text == text
    text = "I seen the fox."
    assert Chain(model="editor").run_sync(text=text).text == text
    chain = Chain(model="editor", fixes="suggested")
    assert chain.run_sync(text=text).text == "I saw the fox."


def test_sentences_in_the_cells_of_a_table_are_prose_and_codes_are_not() -> None:
    row = "| teh | It recieves teh mail for all of us. | dont |\n"
    text = f"| name | use | else |\n|---|---|---|\n{row}{row}\nIt is is here.\n"
    mended = text.replace("It recieves teh", "It receives the").replace("is is", "is")
    assert edit(text).text == mended
    aligned = (
        "| a   | what it does for us             |\n| teh | It recieves mail for all of us. |\n"
    )
    assert edit(aligned).text == aligned


def test_no_right_sentence_is_edited_however_wrong_it_looks() -> None:
    tricky = load("tricky")
    assert len(tricky) >= 400
    assert [sample.text for sample in tricky if edit(sample.text).edits] == []


@pytest.mark.slow
def test_the_held_out_sentences_meet_the_goals() -> None:
    samples = load("held_out")
    safe, suggested = total(samples, "safe"), total(samples, "suggested")
    assert safe.mended >= 0.5 * safe.mistakes
    assert suggested.mended >= 0.65 * suggested.mistakes
    assert safe.wrong * 200 <= safe.edits
    assert safe.broken == 0


@pytest.mark.parametrize(
    "text",
    [
        "dat dat niet kan",
        "Wie die die opdracht geeft , weet ik niet.",
        "Die die das sagen sind da",
        "Merci beaucoup , monsieur",
        "Gracias por todo , señor",
        "Non so che che dire",
        "Obrigado pela ajuda , amigo",
        "Dzień dobry , panie",
        "Tack så mycket , vän",
        "Det är inte inte bra",
    ],
)
def test_another_language_is_left_alone(text: str) -> None:
    assert edit(text).text == text
    assert not [issue for issue in lint(text).issues if issue.safe]


def test_a_foreign_sentence_within_an_english_paragraph_is_left_alone() -> None:
    text = "She wrote us a note and we read it. Ik denk dat dat niet kan. We dont agree with it."
    assert edit(text).text == text.replace("dont", "don't")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("We recieve it.", "We receive it."),
        ("Teh cat", "The cat"),
        ("The El Niño year was teh worst", "The El Niño year was the worst"),
        ("Visit Los Angeles and Las Vegas , too", "Visit Los Angeles and Las Vegas, too"),
    ],
)
def test_short_english_texts_are_edited(wrong: str, right: str) -> None:
    assert list(foreign(wrong)) == []
    assert edit(wrong).text == right
