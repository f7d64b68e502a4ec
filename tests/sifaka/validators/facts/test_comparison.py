"""Facts: what counts as the same, what as changed, and what a task allows."""

import re
from itertools import product

import pytest

from sifaka.validators.facts import KINDS, allowance_of, compare
from sifaka.validators.facts.numbers import at_digits
from tests.stubs.cost import seconds


def differences(text: str, rewrite: str, task: str = "") -> list[str]:
    return [d.message for d in compare(text, rewrite, task, allowance_of(task))]


@pytest.mark.parametrize(
    ("text", "rewrite"),
    [
        ("It costs 6 dollars.", "It costs $6."),
        ("It costs 1,000 euros.", "It costs 1000 euros."),
        ("Es kostet uns 1.000 Euro und nicht mehr.", "Es kostet uns 1000 Euro und nicht mehr."),
        ("On 5 March 2024 it rained.", "It rained on 2024-03-05."),
        ("Come at 3 pm.", "Come at 15:00."),
        ("It takes 2 hours.", "It takes 120 minutes."),
        ("Twenty-three people came.", "23 people came."),
        ("The code is 4711.", "The code is ４７１１."),
        ("He paid 1.2 million euros.", "He paid 1,200,000 euros."),
        ("See https://a.example/x.", "It is at https://a.example/x"),
        ("He said “we will win the game”.", 'He said: "We will win the game."'),
        ("It was 31 °C in Seville and 12 °C in Bergen.", "Seville had 31 °C, Bergen 12 °C."),
        ("Spain defeated Croatia.", "Croatia was defeated by Spain."),
    ],
)
def test_a_fact_may_be_written_in_another_form(text: str, rewrite: str) -> None:
    assert differences(text, rewrite) == []


@pytest.mark.parametrize(
    ("text", "rewrite", "told"),
    [
        ("It costs 6 dollars.", "It costs 9 dollars.", "6 dollars became 9 dollars"),
        ("Take 5 mg of it.", "Take 5 g of it.", "5 mg became 5 g"),
        ("The dose is 1.5 ml.", "The dose is 15 ml.", "1.5 ml became 15 ml"),
        ("See https://a.example/x.", "See it.", "URL lost: https://a.example/x"),
        ("It fell to -8 °C.", "It fell to 8 °C.", "-8 °C became 8 °C"),
        ("Louis XIV ruled.", "Louis XVI ruled.", "XIV became XVI"),
        ("Call +49 30 901820.", "Call +49 30 901280.", "+49 30 901820 became +49 30 901280"),
        ("Use version 3.10.2.", "Use version 3.1.2.", "3.10.2 became 3.1.2"),
        ("The code is 4711.", "The code is ４７１７.", "4711 became 4717"),
        ("Run `make x` now.", "Run `make y` now.", "`make x` became `make y`"),
        (
            "It is done.",
            "It is done by Anna Schmidt.",
            "name that the original has not: Anna Schmidt",
        ),
    ],
)
def test_a_fact_that_differs_is_named(text: str, rewrite: str, told: str) -> None:
    assert told in differences(text, rewrite)


@pytest.mark.parametrize(
    ("text", "rewrite"),
    [
        ("Alice paid 300 dollars and Bob paid 450 dollars.",
         "Alice paid 450 dollars and Bob paid 300 dollars."),
        ("Helen sued Marcus in Bristol.", "Marcus sued Helen in Bristol."),
        ("`open()` makes a handle and `close()` frees it.",
         "`close()` makes a handle and `open()` frees it."),
        ("The price fell from 80 euros to 65 euros.", "The price fell from 65 euros to 80 euros."),
        ("Tea | 2.10\nCake | 3.40", "Tea | 3.40\nCake | 2.10"),
    ],
)  # fmt: skip
def test_facts_that_changed_places_are_found_although_none_is_gone(text: str, rewrite: str) -> None:
    assert any("changed places" in told for told in differences(text, rewrite))


@pytest.mark.parametrize(
    ("task", "text", "rewrite"),
    [
        ("Summarise it.", "It cost 6 euros. It took 3 days.", "It took 3 days."),
        ("Translate into French.", "It costs 6 dollars.", "Cela coûte 6 dollars."),
        ("Anonymise it.", "Anna Schmidt paid 6 euros.", "[Name] paid 6 euros."),
        ("Convert to km.", "The road is 10 miles long.", "The road is 16.1 km long."),
        (
            "Replace Berlin by Rome.",
            "The Berlin office has 9 desks.",
            "The Rome office has 9 desks.",
        ),
        ("Add an example.", "It grows.", "It grows. From 5 euros it becomes 7 euros."),
        ("Remove all links.", "See it (https://a.example/x).", "See it."),
    ],
)
def test_what_the_task_asks_for_is_allowed(task: str, text: str, rewrite: str) -> None:
    assert differences(text, rewrite, task) == []


@pytest.mark.parametrize(
    ("task", "text", "rewrite"),
    [
        ("Make this shorter.", "It costs 6 dollars: https://a.example/x.", "It costs 6 dollars."),
        ("Summarise it.", "It cost 6 euros. It took 3 days.", "It took 5 days."),
        ("Translate into French.", "It costs 6 dollars.", "Cela coûte 9 dollars."),
        ("Anonymise it.", "Anna Schmidt paid 6 euros.", "[Name] paid 8 euros."),
        ("Convert to km.", "The road is 10 miles long.", "The road is 10 km long."),
        ("Answer it.", "Rosa has 12 pens. How many?", "Rosa has 15 pens. That is how many."),
    ],
)
def test_no_task_allows_another_value(task: str, text: str, rewrite: str) -> None:
    assert differences(text, rewrite, task)


def test_a_task_that_no_rule_knows_says_so() -> None:
    assert not allowance_of("Bring it to the level of the moon.").known
    assert allowance_of("Make it formal.").known


@pytest.mark.parametrize(
    ("text", "kept", "turned"),
    [
        ("You must not take 5 mg.", "You mustn't take 5 mg.", "You must take 5 mg."),
        ("The door is not locked.", "The door isn't locked.", "The door is locked."),
        ("We deliver on Sundays.", "On Sundays we deliver.", "We do not deliver on Sundays."),
        ("There is no fee.", "There isn't a fee.", "There is a fee."),
        ("No guest may smoke.", "Guests may not smoke.", "Guests may smoke."),
        ("The alarm didn't ring at night.", "At night no alarm rang.", "The alarm rang at night."),
        ("Die Tür ist nicht zu.", "Nicht zu ist die Tür.", "Die Tür ist zu."),
        ("Le magasin n'est pas ouvert.", "Il n'est pas ouvert, le magasin.",
         "Le magasin est ouvert."),
        ("La tienda no abre hoy.", "Hoy no abre la tienda.", "La tienda abre hoy."),
        ("De winkel is geen bank.", "Geen bank is de winkel.", "De winkel is bank."),
        ("你不可以在这里停车。", "在这里你不可以停车。", "你可以在这里停车。"),
    ],
)  # fmt: skip
def test_a_sentence_that_is_denied_is_not_the_same(text: str, kept: str, turned: str) -> None:
    assert differences(text, kept) == []
    assert differences(text, turned) == [f"{text} became {turned}"]


@pytest.mark.parametrize(
    ("task", "text", "rewrite"),
    [
        ("", "No more than 5 guests may stay.", "At most 5 guests may stay."),
        ("", "Not only the price is wrong.", "The price is wrong."),
        ("", "No, we open on Monday.", "We open on Monday."),
        ("", "Room no. 12 is free.", "Room 12 is free."),
        ("", "It is cold, isn't it?", "It is cold."),
        ("", "Nothing but rain fell.", "Rain fell."),
        ("", "The shop is open. It is not open today.", "The shop is open, but not today."),
        ("Say the opposite.", "The door is locked.", "The door is not locked."),
        ("Turn it into positive sentences.", "You can't enter now.", "You can enter now."),
        ("Make it shorter.", "Do not hesitate to call us.", "Call us."),
    ],
)
def test_a_negation_that_denies_nothing_or_is_asked_for_is_none(
    task: str, text: str, rewrite: str
) -> None:
    assert differences(text, rewrite, task) == []


def test_a_pattern_finds_at_digits_what_it_finds_in_the_whole_text() -> None:
    pattern = re.compile(r"(?P<money>(?:\bUSD|US\$|[$€]) ?)?(?<!\d)-?\d+(?:[., ]\d{3}\b)*(?![a-z])")
    pieces = ("USD", "US$", "$", "€", " ", "-", ",", ".", "7", "12", "345", "٣", "word", "x", "\n")
    for text in map("".join, product(pieces, repeat=4)):
        found = [match.span() for match in at_digits(pattern, text, before=5)]
        assert found == [match.span() for match in pattern.finditer(text)], text


@pytest.mark.parametrize(
    ("text", "rewrite", "told"),
    [
        ("5月3日noon.", "5月3日midnight.", "noon became midnight"),
        ("It is May 5thMarch 2020.", "It is May 5thApril 2020.", "March 2020 became April 2020"),
        ("Pay USD -50 now.", "Pay USD -60 now.", "USD -50 became USD -60"),
        ("The new iPhone is here.", "The new iPad is here.", "iPhone became iPad"),
        ("Under Charles IV it was.", "Under Charles VI it was.", "IV became VI"),
    ],
)
def test_a_fact_is_found_beside_another_and_within_a_word(
    text: str, rewrite: str, told: str
) -> None:
    assert differences(text, rewrite) == [told]


@pytest.mark.parametrize(
    "unit",
    [
        *("“a", "Anna ", "- A: 1\n"),
        *(
            pytest.param(each, marks=pytest.mark.hostile)
            for each in ("(1", "1,", "x-1 ", "`a` ", "一")
        ),
    ],
)
def test_hostile_texts_take_time_that_grows_with_their_length(unit: str) -> None:
    short, long = (unit * (length // len(unit)) for length in (20_000, 80_000))
    took = seconds(lambda: compare(short, f"{short} 7 dogs"))
    assert seconds(lambda: compare(long, f"{long} 7 dogs")) < 12 * took + 0.5


@pytest.mark.parametrize(
    "task",
    [
        "Say it in at most 25 words. Keep the numbers, names and links.",
        "Summarise it without changing the numbers.",
        "Fasse den Text zusammen, behalte alle Zahlen.",
    ],
)
def test_what_a_task_says_to_keep_is_kept_though_the_rest_may_go(task: str) -> None:
    allowed = allowance_of(task)
    assert "number" not in allowed.lose
    assert "quote" in allowed.lose
    assert "number" not in allowed.widened(lose=KINDS).lose


def test_to_keep_a_text_short_keeps_no_fact() -> None:
    assert allowance_of("Summarise it, and keep it short.").lose == frozenset(KINDS)


def test_what_adds_nothing_else_than_it_names_invents_no_fact() -> None:
    text, task = "It costs 5 euros.", 'Add the heading "Prices of 2024". Change nothing else.'
    assert differences(text, "# Prices of 2024\n\nIt costs 5 euros.", task) == []
    (told,) = differences(text, "# Prices of 2024\n\nIt costs 5 euros, or 2.50 euros.", task)
    assert "2.50 euros" in told
