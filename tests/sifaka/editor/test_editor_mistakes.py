"""Real mistakes and the words they should become."""

from itertools import pairwise

import pytest

from sifaka.editor import Tier, edit, lint

MISTAKES = [
    # spelling
    ("We recieve the parcel on Monday.", "We receive the parcel on Monday."),
    ("Wait untill the light is green.", "Wait until the light is green."),
    ("Keep them in seperate folders.", "Keep them in separate folders."),
    ("It definately works on my machine.", "It definitely works on my machine."),
    ("The error occured twice today.", "The error occurred twice today."),
    ("Please accomodate all the guests.", "Please accommodate all the guests."),
    ("It is updated automaticaly at night.", "It is updated automatically at night."),
    ("Their adress has changed since May.", "Their address has changed since May."),
    ("She wrote teh report on time.", "She wrote the report on time."),
    ("This is a wierd result for us.", "This is a weird result for us."),
    ("The lenght of the cable matters.", "The length of the cable matters."),
    ("It is not neccessary to restart.", "It is not necessary to restart."),
    # repeated words
    ("We went to the the office again.", "We went to the office again."),
    ("Open the file and and read it.", "Open the file and read it."),
    ("It is one of of the best we have.", "It is one of the best we have."),
    ("This line ends with the\nthe word that begins the next.",
     "This line ends with the\nword that begins the next."),
    ("They came with with with their friends.", "They came with their friends."),
    # articles
    ("He ate a apple after lunch.", "He ate an apple after lunch."),
    ("This is an test of the siren.", "This is a test of the siren."),
    ("It was a interesting talk for all.", "It was an interesting talk for all."),
    ("A error was found in the log.", "An error was found in the log."),
    ("We need an better plan for this.", "We need a better plan for this."),
    ("This is an user of the system.", "This is a user of the system."),
    ("She went to an university in the north.", "She went to a university in the north."),
    ("He is an European citizen by birth.", "He is a European citizen by birth."),
    ("It is an one-time offer for you.", "It is a one-time offer for you."),
    ("Every part is an unit of its own.", "Every part is a unit of its own."),
    # doubled verbs, and words doubled at the start of a sentence
    ("This is is a test of it.", "This is a test of it."),
    ("The results are are on the last page.", "The results are on the last page."),
    ("We want to to go home now.", "We want to go home now."),
    ("The the cat sat on the mat.", "The cat sat on the mat."),
    ("It it was late when we came.", "It was late when we came."),
    # capitals at the start of a sentence
    ("Teh door was open when we came.", "The door was open when we came."),
    ("It is late. Recieve them at the door.", "It is late. Receive them at the door."),
    # contractions
    ("We dont know and she doesnt care.", "We don't know and she doesn't care."),
    ("Isnt it too late for that now?", "Isn't it too late for that now?"),
    ("We could'nt go, and it is'nt late.", "We couldn't go, and it isn't late."),
    ("It’s late and they havent come.", "It’s late and they haven’t come."),
    # spaces
    ("We like tea , coffee and milk.", "We like tea, coffee and milk."),
    ("This is the end of it .", "This is the end of it."),
    ("What a day we had !", "What a day we had!"),
    ("There are two  spaces in this line.", "There are two spaces in this line."),
    # encoding
    ("We donâ€™t know what it means.", "We don’t know what it means."),
    ("The cafÃ© opens at nine today.", "The café opens at nine today."),
    ("It was good â€” very good indeed.", "It was good — very good indeed."),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "right"), MISTAKES)
def test_a_mistake_is_corrected_and_nothing_else(wrong: str, right: str) -> None:
    assert edit(wrong).text == right
    assert edit(wrong.replace("\n", "\r\n")).text == right.replace("\n", "\r\n")
    assert edit(wrong + "\n\nThis paragraph is fine.\n").text == right + (
        "\n\nThis paragraph is fine.\n"
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("It took a hour to load the van.", "article"),
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


def test_issues_are_anchored_and_in_text_order() -> None:
    text = " ".join(wrong for wrong, _ in MISTAKES)
    issues = lint(text).issues
    assert len(issues) >= 35
    assert all(i.anchored and text[i.start : i.end].startswith(i.quote) for i in issues)
    assert [i.start for i in issues] == sorted(i.start or 0 for i in issues)


def test_safe_issues_do_not_overlap() -> None:
    text = "we dont want to to go  to the the the  shop , as teh that is a a apple ."
    spans = [(i.start or 0, i.end or 0) for i in lint(text).issues if i.safe]
    assert spans
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_two_spaces_after_every_sentence_are_a_habit_not_a_mistake() -> None:
    text = "This is the first one.  It is followed by one more.  Then the last one comes.\n"
    assert edit(text).text == text


def test_a_wrong_article_before_a_fixed_word_is_fixed_in_the_next_round() -> None:
    assert edit("It is an  recieved parcel.").text == "It is a received parcel."


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        ("We live in in London.", "safe"),
        ("The meeting is on on Monday.", "suggested"),
        ("She was late, and we sat on on the bench.", "suggested"),
    ],
)
def test_a_preposition_is_repeated_before_a_name_and_after_another_clause(
    text: str, fixes: Tier
) -> None:
    assert edit(text, fixes=fixes).text == text.replace("in in", "in").replace("on on", "on")


@pytest.mark.parametrize(
    "text",
    ["She logged in in London.", "The house and the garden they live in in Spring are cold."],
)
def test_a_preposition_may_belong_to_the_verb_before_it(text: str) -> None:
    assert edit(text, fixes="suggested").text == text
