import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.classifiers import NONE_FOUND
from sifaka.classifiers.protocol import Classification
from sifaka.classifiers.screen import NOTHING_FOUND, screen
from tests.stubs.cost import seconds

SCREENS = {name: screen(name) for name in ("profanity", "toxicity", "bias")}


def classify(name: str, text: str) -> Classification:
    return SCREENS[name].classify(text)


FOUND = [
    ("profanity", "What the fuck is this?", "fuck"),
    ("profanity", "That is f*cking late.", "f*cking"),
    ("profanity", "This sh1t again.", "sh1t"),
    ("profanity", "What a sh*tty day.", "sh*tty"),
    ("profanity", "Oh f.u.c.k it.", "f.u.c.k"),
    ("profanity", "FUUUCK that.", "FUUUCK"),
    ("profanity", "What an a$$hole.", "a$$hole"),
    ("profanity", "You son of a b!tch.", "b!tch"),
    ("toxicity", "Well, you are an idiot.", "you are an idiot"),
    ("toxicity", "You’re such a pathetic loser!", "You’re such a pathetic loser"),
    ("toxicity", "You useless piece of trash.", "You useless piece of trash"),
    ("toxicity", "I will kill you.", "I will kill you"),
    ("toxicity", "Just go kill yourself.", "go kill yourself"),
    ("toxicity", "That is not good, you idiot.", "you idiot"),
    ("bias", "All women are bad drivers.", "All women are bad drivers"),
    ("bias", "Immigrants are always late for work.", "Immigrants are always late for work"),
    ("bias", "He says the elderly can't drive.", "the elderly can't drive"),
    ("bias", "She throws like a girl.", "throws like a girl"),
]


@pytest.mark.parametrize(("name", "text", "quote"), FOUND)
def test_explicit_words_are_found_where_they_stand(name: str, text: str, quote: str) -> None:
    found = classify(name, text)
    assert found.label == SCREENS[name].label
    assert found.confidence >= 0.5
    assert quote in [issue.quote for issue in found.evidence]
    for issue in found.evidence:
        assert text[issue.start : issue.end] == issue.quote
        assert issue.category == name


HARMLESS = [
    ("profanity", "Scunthorpe, Penistone, Sussex and Essex are in England."),
    ("profanity", "The class will assess a passing assassin in the basement cockpit."),
    ("profanity", "Dick Francis and Charles Dickens wrote novels; so did the author of Moby-Dick."),
    ("profanity", "Shiitake mushrooms, a mishit shot and a shift of focus; Matsushita makes them."),
    ("profanity", "Compute a*s + b*t and f**2; **bold** *italic* text."),
    ("toxicity", "You are not an idiot."),
    ("toxicity", "I will kill the process for you and shoot you an email."),
    ("toxicity", "If you are lost, restart the server; you are garbage collecting too often."),
    ("toxicity", "Are you a pig farmer? You are so kind."),
    ("bias", "All men are created equal, and all women are invited."),
    ("bias", "Women are always welcome here. Immigrants are now eligible."),
    ("bias", "All servers are slow, and all children are asleep."),
]


@pytest.mark.parametrize(("name", "text"), HARMLESS)
def test_words_that_only_look_alike_are_not_found(name: str, text: str) -> None:
    assert classify(name, text).label == NONE_FOUND


@pytest.mark.parametrize("name", SCREENS)
def test_finding_nothing_is_never_called_clean(name: str) -> None:
    found = classify(name, "The committee met in May.")
    assert (found.label, found.confidence, found.evidence) == ("none found", NOTHING_FOUND, ())
    assert "explicit" in found.coverage


QUOTED = [
    ("profanity", "The word “shit” is of Germanic origin."),
    ("profanity", "Write `fuck` in the list."),
    ("toxicity", 'The sign said "you are an idiot" in red.'),
    ("toxicity", "> you are an idiot\n\nPlease do not write that."),
    ("bias", "It is a myth that immigrants are criminals."),
    ("bias", "Not all women are the same."),
]


@pytest.mark.parametrize(("name", "text"), QUOTED)
def test_what_is_quoted_or_denied_is_found_but_weighs_less(name: str, text: str) -> None:
    found = classify(name, text)
    assert found.label == SCREENS[name].label
    assert found.confidence < 0.5
    assert all(issue.severity <= 3 and "(quoted)" in issue.message for issue in found.evidence)


def test_saying_it_outright_beside_a_quotation_counts_in_full() -> None:
    found = classify("toxicity", 'She said "you are an idiot". I say: you are a moron.')
    assert [issue.severity for issue in found.evidence] == [2, 4]
    assert found.confidence >= 0.85


def test_different_wordings_add_up_and_the_same_one_does_not() -> None:
    once = classify("profanity", "Crap.").confidence
    assert classify("profanity", "Crap. Crap. Crap.").confidence == once
    assert classify("profanity", "Crap. Damn.").confidence > once


def test_urls_are_not_read() -> None:
    assert classify("profanity", "See https://example.org/fuck/shit for it.").label == NONE_FOUND


@given(
    st.sampled_from(list(SCREENS)), st.text(alphabet="fuckshitaw*1!. \n'\"“”`>$#yore", max_size=80)
)
def test_any_text_gets_a_label_and_spans_that_hold(name: str, text: str) -> None:
    found = classify(name, text)
    assert found.label in SCREENS[name].labels
    for issue in found.evidence:
        assert issue.quote
        assert text[issue.start : issue.end].startswith(issue.quote)


PIECES = ("fu", "f.", "s" * 50 + "h", "you are ", "all women ", "A" * 40 + " ", "!", "'")


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize(
    "piece", ["f", *(pytest.param(each, marks=pytest.mark.hostile) for each in PIECES)]
)
def test_a_hostile_text_is_screened_in_time(name: str, piece: str) -> None:
    assert seconds(lambda: classify(name, piece * (100_000 // len(piece)))) < 5
