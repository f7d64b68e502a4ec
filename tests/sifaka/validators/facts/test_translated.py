"""Numbers that a translation spells out."""

import pytest

from sifaka.validators.facts import allowance_of, compare

SIX = "It costs 6 dollars."


def _lost(text: str, original: str = SIX) -> list[str]:
    allowed = allowance_of("Translate it.")
    return [difference.message for difference in compare(original, text, "", allowed)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Es kostet sechs Dollar.", "Es kostet neun Dollar."),
        ("Het kost zes dollar.", "Het kost negen dollar."),
        ("Kosztuje sześć dolarów.", "Kosztuje dziewięć dolarów."),
        ("Стоит шесть долларов.", "Стоит девять долларов."),
        ("Κοστίζει έξι δολάρια.", "Κοστίζει εννιά δολάρια."),
        ("يكلف ستة دولارات.", "يكلف تسعة دولارات."),
        ("זה עולה שישה דולר.", "זה עולה תשעה דולר."),
        ("इसकी कीमत छह डॉलर है।", "इसकी कीमत नौ डॉलर है।"),
        ("ราคาหกดอลลาร์", "ราคาเก้าดอลลาร์"),
        ("它要六美元。", "它要九美元。"),
        ("六ドルです。", "九ドルです。"),
        ("여섯 달러입니다.", "아홉 달러입니다."),
    ],
)
def test_a_number_in_words_of_another_language_is_kept(text: str, wrong: str) -> None:
    assert _lost(text) == []
    assert len(_lost(wrong)) == 1


def test_a_word_that_is_a_number_elsewhere_does_not_stand_for_it() -> None:
    french = "Le musée est ouvert toute la semaine, et on y entre par la grande porte du jardin."
    assert _lost(french, "10 dollars to get in.") == ["number lost: 10 dollars"]  # Turkish on: ten


@pytest.mark.parametrize(
    "task",
    [
        "Vertaal naar het Nederlands.",
        "Översätt till svenska.",
        "Przetłumacz na polski.",
        "ترجم إلى العربية",
        "แปลเป็นภาษาไทย",
        "תרגם לעברית",
        "अनुवाद करें",
        "Put it into Vietnamese.",
    ],
)
def test_a_task_to_translate_is_known_in_other_languages(task: str) -> None:
    assert allowance_of(task).translates
