import sys
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.classifiers.language import LanguageClassifier

Engine = Literal["auto", "own"]
ENGINES: tuple[Engine, ...] = ("own", "auto")
SENTENCES = {
    "en": "Please restart the server before you install the updates.",
    "de": "Bitte starten Sie den Server neu, bevor Sie die Aktualisierung installieren.",
    "fr": "Veuillez redémarrer le serveur avant d'installer les mises à jour.",
    "es": "El comité se reunió en mayo para discutir el presupuesto.",
    "it": "Il nostro gatto dorme tutto il giorno sul divano della nonna.",
    "pt": "O nosso gato dorme o dia todo no sofá, mas não à noite.",
    "nl": "Onze kat slaapt de hele dag op de bank en niet in het bed.",
    "pl": "Komisja spotkała się w maju, aby omówić budżet na ten rok.",
    "ru": "Наша кошка спит весь день на диване.",
    "uk": "Комітет зібрався у травні, щоб обговорити бюджет.",
    "el": "Η επιτροπή συνεδρίασε τον Μάιο.",
    "he": "הוועדה נפגשה במאי כדי לדון בתקציב.",
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


def test_a_list_of_names_is_in_no_language() -> None:
    names = "Smith Johnson Williams Jones Brown Davis Miller Wilson"
    assert LanguageClassifier("own").classify(names).label == "unknown"


@pytest.mark.parametrize("engine", ENGINES)
def test_code_and_urls_do_not_count(engine: Engine) -> None:
    code = "```\nfor the and of this that with from your have\nif not is: return the\n```\n" * 3
    text = f"{code}\n{SENTENCES['de']} https://example.org/the/and/of/this/that/with\n"
    assert LanguageClassifier(engine).classify(text).label == "de"


@pytest.mark.parametrize("engine", ENGINES)
def test_most_of_a_long_text_decides(engine: Engine) -> None:
    text = f"{SENTENCES['en']}\n\n" + f"{SENTENCES['de']}\n\n" * 2_000
    assert LanguageClassifier(engine).classify(text).label == "de"


def test_close_relatives_make_it_less_sure() -> None:
    own = LanguageClassifier("own")
    danish = own.classify("Udvalget mødtes for at drøfte det og det er ikke for sent at gøre det.")
    german = own.classify(SENTENCES["de"])
    assert danish.confidence < german.confidence


@given(st.text(max_size=200))
def test_any_text_gets_a_label_of_the_list(text: str) -> None:
    own = LanguageClassifier("own")
    assert own.classify(text).label in own.labels


def test_without_the_package_words_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    found = LanguageClassifier().classify(SENTENCES["fr"])
    assert (found.label, found.coverage) == ("fr", "script and function words")
    assert "eu" not in LanguageClassifier().labels
