import pytest

from sifaka.text.sections import MOST_TERMS, shared_terms


def shared(*parts: str) -> set[str]:
    return {term for terms in shared_terms(parts) for term in terms}


@pytest.mark.parametrize(
    ("one", "other", "terms"),
    [
        ("We ask the Blue Harbor Team.", "The Blue Harbor Team knows.", {"Blue Harbor Team"}),
        ("Ask the Bank of England.", "So says the Bank\nof England.", {"Bank of England"}),
        ("A unit of service (UOS) is due.", "Each UOS costs.", {"UOS"}),
        ("Call `run()` first.", "Then `run()` again.", {"run()"}),
        ("Set max_calls.", "It obeys max_calls.", {"max_calls"}),
        ("Call Blue Harbor.", "We called Blue Harbor.", {"Blue Harbor"}),
        ("The HttpClient opens.", "An HttpClient closes.", {"HttpClient"}),
        ("A “warm start” helps.", 'No "warm start" here.', {"warm start"}),
    ],
)
def test_a_term_of_two_parts_is_shared(one: str, other: str, terms: set[str]) -> None:
    assert shared(one, other) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We ask the Blue Harbor Team.", "Nobody else is named."),
        ("NASA said so.", "NASA never defined it in brackets."),
        ("In Berlin it rains.", "In Berlin it snows."),
        ("Moreover Berlin grew.", "Moreover Berlin shrank."),
        ("Please Note this.", "Please Note that."),
    ],
)
def test_what_is_no_term_or_stands_in_one_part_is_not_shared(one: str, other: str) -> None:
    assert shared(one, other) == set()


def test_a_word_that_opens_a_sentence_is_no_part_of_a_name() -> None:
    assert shared("The Blue Harbor is near.", "Near the Blue Harbor.") == {"Blue Harbor"}


def test_each_part_has_its_own_terms() -> None:
    first, second, third = shared_terms(["Blue Harbor", "Blue Harbor and Red Tower", "Red Tower"])
    assert (first, third) == ({"Blue Harbor"}, {"Red Tower"})
    assert second == {"Blue Harbor", "Red Tower"}


def test_the_terms_are_bounded_and_the_same_each_time() -> None:
    many = " x ".join(f"some_name_{n}" for n in range(3 * MOST_TERMS))
    found = shared_terms([many, many])
    assert len(found[0]) == MOST_TERMS
    assert found == shared_terms([many, many])
