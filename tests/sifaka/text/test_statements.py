"""What is read from a text, in whatever notation it stands there."""

import random

import pytest

from sifaka.text.statements import Statement, is_same, normalised, read


def _only(text: str) -> Statement:
    (statement,) = read(text)
    return statement


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tue 12 Nov", "Tuesday 12 November"),
        ("the 1st of May", "May 1"),
        ("1 May", "1er mai"),
        ("2024-03-05", "March 5, 2024"),
        ("5.3.2024", "5 de marzo de 2024"),
        ("2025年5月14日", "14 May 2025"),
        ("1990s", "1990–1999"),
        ("Q1", "the first quarter"),
        ("3pm", "15:00"),
        ("3 p.m.", "15 Uhr"),
        ("19 h 30", "午後7時30分"),
        ("half past nine", "9:30"),
        ("halb zehn", "half past nine"),
        ("noon", "12:00"),
        ("50 %", "50 per cent"),
        ("half", "50%"),
        ("a quarter", "25 Prozent"),
        ("two thirds", "2/3"),
        ("½", "0.5"),
        ("2½ hours", "150 minutes"),
        ("125万", "1.25 million"),
        ("1.250.000 €", "€1,250,000"),
        ("CHF 12'500", "12 500 Franken"),
        ("$1.2m", "1.2 million dollars"),
        ("71k EUR", "€71,000"),
        ("5h 40min", "340 min"),
        ("90 minutes", "an hour and a half"),
        ("48 hours", "two days"),
        ("0.5 l", "500 ml"),
        ("twelve", "12"),
        ("twenty-five", "25"),
        ("the third", "3rd"),
        ("10 miles", "16 km"),
        ("68 °F", "20 °C"),
        ("+44 20 7946 0018", "+44 (20) 79460018"),
        ("www.acme.io/docs", "https://acme.io/docs/"),
        ("the 15th", "15 June"),
        ("£89.50.", "89,50 £"),
        ("07/2023", "July 2023"),
        ("4.15 to 4.45 pm", "16:15"),
        ("from 0945 on", "9:45"),
        ("30–45 minutes", "half an hour"),
        ("Dienstagmorgen", "Tuesday"),
        ("Mo 16–18 Judo, Di 9–11 Yoga, Mi zu", "Mittwoch"),
        ("2.2 kW", "2200"),
        ("3 Aug 25", "2025-08-03"),
    ],
)
def test_two_notations_say_the_same(one: str, other: str) -> None:
    first, second = read(one), read(other)
    assert any(is_same(a, b) for a in first for b in second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 May", "21 May"),
        ("Monday 12 May", "Tuesday 12 May"),
        ("12 May 2023", "12 May 2024"),
        ("7:30 pm", "7:30"),
        ("5 mg", "5 g"),
        ("14 days", "14 weeks"),
        ("$4.2m", "$4.2 billion"),
        ("10 miles", "61 km"),
        ("16.1 km", "16 km"),
        ("+44 20 7946 0018", "+44 20 7946 0081"),
        ("2024-0388", "2024-0389"),
    ],
)
def test_two_values_are_told_apart(one: str, other: str) -> None:
    assert not is_same(_only(one), _only(other))


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("the ﬁrst ofﬁce", "the first office"),
        ("con-\nsidered", "considered"),
        ("It grew.[3] Fast[12].", "It grew. Fast."),
        ("12 500 and 12\u202f500", "12500 and 12500"),
        ("some 12\n500 people", "some 12500 people"),
        ("zero\u200bwidth\u00ad", "zerowidth"),
        ("## A *bold* `claim` in [a link](https://a.example)", "A bold claim in a link"),
        ("- [x] done", "done"),
        ("R&amp;D", "R&D"),
    ],
)
def test_a_text_is_normalised(text: str, heard: str) -> None:
    assert normalised(text) == heard


def test_a_column_of_numbers_is_not_joined() -> None:
    assert [each.value for each in read("12\n500\n")] == ["12", "500"]


@pytest.mark.parametrize(
    "text",
    [
        "NOTHING IS FREE IN THIS SHOP.",
        "Dear Valued Customer,\nthank you.",
        "How To Grow Better Tomatoes",
        "The shop is open. Guests are welcome.",
        "I think I am right.",
    ],
)
def test_a_capital_letter_alone_makes_no_name(text: str) -> None:
    assert not [each for each in read(text) if each.kind == "name" and not each.weak]


def test_names_are_read_where_ordinary_words_have_no_capital() -> None:
    found = [each.text for each in read("We told Paula Stein, Dr. Lund and Ann's boss in Turin.")]
    assert found == ["Paula Stein", "Lund", "Ann", "Turin"]


def test_figures_of_csv_are_read_one_by_one() -> None:
    assert [s.text for s in read("14,42.2,2310")] == ["14", "42.2", "2310"]


def test_titles_alone_and_what_a_commit_is_called_are_no_figures_of_a_text() -> None:
    assert not read("Je vous prie d'agréer, Madame, mes salutations.")
    assert [(s.kind, s.text) for s in read("fixed in a81f3c2 by us")] == [("name", "a81f3c2")]


def test_german_nouns_are_no_names() -> None:
    text = "Wir haben die Werkstatt im Hof gesehen, und Herr Weber war mit Marta Gil auch da."
    assert [each.text for each in read(text)] == ["Weber", "Marta Gil"]


def test_figures_belong_to_the_name_they_stand_in() -> None:
    found = read("GPT-4 and COVID-19 are in step 3 of Article 5.")
    assert {each.kind for each in found} == {"name"}


def test_code_addresses_and_quotations_stand_as_they_are() -> None:
    text = 'Run `a --b 3`, see https://x.example/7 or mail c@d.example: "It costs 5 euros."'
    assert [(each.kind, each.text) for each in read(text)] == [
        ("code", "`a --b 3`"),
        ("url", "https://x.example/7"),
        ("url", "c@d.example"),
        ("quote", '"It costs 5 euros."'),
        ("money", "5 euros"),
    ]


def test_places_count_in_the_text_as_it_is_given() -> None:
    text = "**ﬁne**\u200b: 12\u202f500 € on the 1st of May, [docs](https://a.example)"
    assert all(text[each.start : each.end] == each.text for each in read(text))


def test_any_text_is_read_without_an_error() -> None:
    signs = "aA1 .,:-/|\n\"'`*_#[](){}<>&;%€$½²３万年月日\ud800\udfff\u200b\u0301\0éßİ\t٢"
    chance = random.Random(7)  # noqa: S311, it only makes texts
    for _ in range(300):
        text = "".join(chance.choice(signs) for _ in range(chance.randrange(60)))
        assert all(each.text in text for each in read(text))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It is -20 °C outside.", "It is \u22124 °F outside.", True),
        ("It is 20 °C outside.", "It is \u22124 °F outside.", False),
        ("70 cm x 40 cm", "| 27.6 × 15.7 in |", True),
        ("Visitors may enter.", "Staff and visitors may enter.", True),
    ],
)
def test_lengths_in_a_chain_degrees_below_zero_and_the_word_may(
    one: str, other: str, same: bool
) -> None:
    told, known = read(other), read(one)
    assert all(any(is_same(each, every) for every in known) for each in told) is same
