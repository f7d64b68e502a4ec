"""Texts in other languages, short ones too, which no rule for English may change."""

import pytest

from sifaka.editor import edit, lint
from sifaka.editor.protection import foreign


@pytest.mark.parametrize(
    "text",
    [
        "dat dat niet kan",
        "Ik denk dat dat niet kan.",
        "Wie die die opdracht geeft , weet ik niet.",
        "Das das nicht geht, ist klar.",
        "Guten Morgen zusammen",
        "Die die das sagen sind da",
        "Datei nicht gefunden , bitte warten",
        "Die adresse des hotels",
        "Merci beaucoup , monsieur",
        "Nous nous levons tôt.",
        "Vous vous trompez d'adresse.",
        "Elle a une adresse",
        "Gracias por todo , señor",
        "No no quiero ir",
        "El el coche rojo",
        "Non so che che dire",
        "Grazie a tutti , ciao",
        "Obrigado pela ajuda , amigo",
        "Ele se se foi",
        "Dzień dobry , panie",
        "to to jest dobre",
        "Nie wiem czy to to",
        "Tack så mycket , vän",
        "Jag vet att att det",
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
        ("Save teh file", "Save the file"),
        ("Seperate folders", "Separate folders"),
        ("Teh cat", "The cat"),
        ("The El Niño year was teh worst", "The El Niño year was the worst"),
        ("Visit Los Angeles and Las Vegas , too", "Visit Los Angeles and Las Vegas, too"),
        ("My resume , and the café", "My resume, and the café"),
    ],
)
def test_short_english_texts_are_edited(wrong: str, right: str) -> None:
    assert list(foreign(wrong)) == []
    assert edit(wrong).text == right
