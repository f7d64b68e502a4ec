"""Classifiers: the catalogue, languages, screens of words, sentiment."""

import re
import sys
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.classifiers import CLASSIFIERS, NONE_FOUND, classifier
from sifaka.classifiers.language import LanguageClassifier
from sifaka.classifiers.protocol import Classification
from sifaka.classifiers.screen import NOTHING_FOUND, screen
from sifaka.classifiers.sentiment import SentimentClassifier
from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka.validators import parse_validators
from tests.stubs.cost import seconds


def test_every_classifier_of_the_catalogue_is_called_what_it_is_listed_as() -> None:
    for name in CLASSIFIERS:
        assert classifier(name).name == name
        assert classifier(name).labels
        assert classifier(name) == classifier(name)


def test_an_unknown_classifier_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="language, sentiment") as caught:
        classifier("mood")
    assert "'mood'" in caught.value.message


Engine = Literal["auto", "own"]
ENGINES: tuple[Engine, ...] = ("own", "auto")
SENTENCES = {
    "en": "Please restart the server before you install the updates.",
    "de": "Bitte starten Sie den Server neu, bevor Sie die Aktualisierung installieren.",
    "fr": "Veuillez redémarrer le serveur avant d'installer les mises à jour.",
    "es": "El comité se reunió en mayo para discutir el presupuesto.",
    "pl": "Komisja spotkała się w maju, aby omówić budżet na ten rok.",
    "ru": "Наша кошка спит весь день на диване.",
    "uk": "Комітет зібрався у травні, щоб обговорити бюджет.",
    "ar": "اجتمعت اللجنة في مايو لمناقشة الميزانية.",
    "zh": "委员会在五月开会讨论预算。",
    "ja": "委員会は五月に予算を議論するために会合した。",
    "ko": "위원회는 5월에 예산을 논의하기 위해 모였다.",
    "hi": "समिति ने मई में बजट पर चर्चा करने के लिए बैठक की।",
    "th": "คณะกรรมการประชุมในเดือนพฤษภาคม",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_enough_to_tell_a_language(engine: Engine, language: str) -> None:
    found = LanguageClassifier(engine).classify(SENTENCES[language])
    assert found.label == language
    assert found.confidence >= 0.5
    assert found.label in LanguageClassifier(engine).labels


def test_it_says_what_decided() -> None:
    text = SENTENCES["en"]
    assert LanguageClassifier("own").classify(text).coverage == "script and function words"
    assert LanguageClassifier("auto").classify(text).coverage == "script and py3langid"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text", ["", "   ", "12 34 56 78", "Hello you!", "Ein Test", "是的", "?!…"]
)
def test_a_short_text_is_unknown(engine: Engine, text: str) -> None:
    found = LanguageClassifier(engine).classify(text)
    assert (found.label, found.confidence) == ("unknown", 0)
    assert "too short" in found.coverage


def test_close_relatives_and_names_make_it_less_sure() -> None:
    names = "Smith Johnson Williams Jones Brown Davis Miller Wilson"
    assert LanguageClassifier("own").classify(names).label == "unknown"
    own = LanguageClassifier("own")
    danish = own.classify("Udvalget mødtes for at drøfte det og det er ikke for sent at gøre det.")
    german = own.classify(SENTENCES["de"])
    assert danish.confidence < german.confidence


@pytest.mark.parametrize("engine", ENGINES)
def test_code_and_urls_do_not_count(engine: Engine) -> None:
    code = "```\nfor the and of this that with from your have\nif not is: return the\n```\n" * 3
    text = f"{code}\n{SENTENCES['de']} https://example.org/the/and/of/this/that/with\n"
    assert LanguageClassifier(engine).classify(text).label == "de"


@pytest.mark.parametrize("engine", ENGINES)
def test_most_of_a_long_text_decides(engine: Engine) -> None:
    text = f"{SENTENCES['en']}\n\n" + f"{SENTENCES['de']}\n\n" * 2_000
    assert LanguageClassifier(engine).classify(text).label == "de"


def test_without_the_package_words_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    found = LanguageClassifier().classify(SENTENCES["fr"])
    assert (found.label, found.coverage) == ("fr", "script and function words")
    assert "eu" not in LanguageClassifier().labels


SCREENS = {name: screen(name) for name in ("profanity", "toxicity", "bias")}


def classify(name: str, text: str) -> Classification:
    return SCREENS[name].classify(text)


FOUND = [
    ("profanity", "What the fuck is this?", "fuck"),
    ("profanity", "This sh1t again.", "sh1t"),
    ("profanity", "Oh f.u.c.k it.", "f.u.c.k"),
    ("profanity", "What an a$$hole.", "a$$hole"),
    ("toxicity", "Well, you are an idiot.", "you are an idiot"),
    ("toxicity", "You’re such a pathetic loser!", "You’re such a pathetic loser"),
    ("toxicity", "I will kill you.", "I will kill you"),
    ("toxicity", "That is not good, you idiot.", "you idiot"),
    ("bias", "All women are bad drivers.", "All women are bad drivers"),
    ("bias", "Immigrants are always late for work.", "Immigrants are always late for work"),
    ("bias", "He says the elderly can't drive.", "the elderly can't drive"),
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
    ("profanity", "Dick Francis and Charles Dickens wrote novels; so did the author of Moby-Dick."),
    ("profanity", "Shiitake mushrooms, a mishit shot and a shift of focus; Matsushita makes them."),
    ("profanity", "Compute a*s + b*t and f**2; **bold** *italic* text."),
    ("toxicity", "You are not an idiot."),
    ("toxicity", "I will kill the process for you and shoot you an email."),
    ("toxicity", "If you are lost, restart the server; you are garbage collecting too often."),
    ("bias", "All men are created equal, and all women are invited."),
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
    ("toxicity", 'The sign said "you are an idiot" in red.'),
    ("toxicity", "> you are an idiot\n\nPlease do not write that."),
    ("bias", "It is a myth that immigrants are criminals."),
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


def test_different_wordings_add_up_and_urls_are_not_read() -> None:
    once = classify("profanity", "Crap.").confidence
    assert classify("profanity", "Crap. Crap. Crap.").confidence == once
    assert classify("profanity", "Crap. Damn.").confidence > once
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


PRAISE = "I love this library. The documentation is wonderful and everything works great."
BLAME = "This is a terrible library. I hate the awful documentation and the horrible errors."


@pytest.mark.parametrize(("text", "label"), [(PRAISE, "positive"), (BLAME, "negative")])
def test_praise_and_blame_are_told_apart(text: str, label: str) -> None:
    found = SentimentClassifier().classify(text)
    assert found.label == label
    assert 0.5 <= found.confidence <= 0.88
    assert found.scores[label] == max(found.scores.values())


def test_sentiment_is_unknown_where_it_cannot_be_judged_and_neutral_never_certain() -> None:
    found = SentimentClassifier().classify("The table has four columns. The first holds the name.")
    assert (found.label, found.confidence) == ("neutral", 0.45)
    assert found.evidence == ()
    found = SentimentClassifier().classify(
        "Diese Bibliothek ist schrecklich, und ich kann die Fehler nicht mehr sehen."
    )
    assert (found.label, found.confidence) == ("unknown", 0)
    assert "'de'" in found.coverage
    assert SentimentClassifier().classify("").label == "unknown"


def test_sentences_are_rated_one_by_one_and_pointed_at() -> None:
    text = f"The meeting is on Monday. {BLAME}"
    found = SentimentClassifier().classify(text)
    assert [issue.quote for issue in found.evidence] == [
        "This is a terrible library.",
        "I hate the awful documentation and the horrible errors.",
    ]
    for issue in found.evidence:
        assert text[issue.start : issue.end] == issue.quote


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vaderSentiment", None)
    with pytest.raises(ConfigurationError) as caught:
        SentimentClassifier()
    assert caught.value.suggestion == install("classifiers")
    with pytest.raises(ConfigurationError, match=re.escape(install("classifiers"))):
        parse_validators([{"type": "classifier", "name": "sentiment"}])


@pytest.mark.slow
def test_a_sentence_without_end_is_rated_in_parts_in_linear_time() -> None:
    for piece in ("good bad but kind no ", "😀"):
        small, large = (
            seconds(lambda n=n, piece=piece: SentimentClassifier().classify(piece * n))
            for n in (500, 4_000)
        )
        assert large < 20 * small, piece
    assert SentimentClassifier().classify("a wonderful, superb day and " * 500).label == "positive"
