import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.length import LengthValidator


def check(text: str, **bounds: int) -> ValidationResult:
    return LengthValidator.model_validate(bounds).validate(Thought(text=text))


def only_issue(result: ValidationResult) -> Issue:
    (issue,) = result.issues
    return issue


def test_bounds_include_both_ends() -> None:
    assert check("one two three", min_words=3, max_words=3).passed
    assert check("abc", min_chars=3, max_chars=3).passed


def test_one_word_over_or_under_fails() -> None:
    assert not check("one two three four", max_words=3).passed
    assert not check("one two", min_words=3).passed


def test_the_message_has_the_figures() -> None:
    assert check("one two three", max_words=2).message == "3 words, at most 2"
    assert check("one", min_words=2, max_words=4).message == "1 word, between 2 and 4"
    assert check("ab", min_chars=3).message == "2 characters, at least 3"


def test_the_overflow_is_pointed_at_from_where_the_limit_is_crossed() -> None:
    issue = only_issue(check("one two 😀 three four", max_words=2))
    assert (issue.start, issue.end, issue.quote) == (10, 20, "three four")
    assert (issue.rule, issue.category, issue.fix) == ("max_words", "length", None)


def test_characters_are_code_points() -> None:
    assert check("e\u0301😀שלום", max_chars=7).passed
    issue = only_issue(check("a\r\n😀b", max_chars=4))
    assert (issue.start, issue.quote) == (4, "b")


def test_a_long_overflow_is_quoted_in_part() -> None:
    text = "x" * 1000
    issue = only_issue(check(text, max_chars=10))
    assert (issue.end, len(issue.quote)) == (1000, 200)


def test_too_few_words_is_an_issue_without_a_place() -> None:
    result = check("one", min_words=3)
    assert not only_issue(result).anchored
    assert only_issue(result).rule == "min_words"
    assert result.suggestions == ("add 2 words or more",)


def test_the_suggestion_says_how_much_to_cut() -> None:
    assert check("a b c", max_words=2).suggestions == ("cut 1 word or more",)


def test_both_units_are_checked() -> None:
    result = check("one two three", max_words=2, max_chars=5)
    assert [issue.rule for issue in result.issues] == ["max_words", "max_chars"]


def test_an_empty_text_passes_an_upper_bound_and_fails_a_lower_one() -> None:
    assert check("", max_words=0).passed
    assert check("", min_words=1).score == 0.0


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ({}, "give at least one of"),
        ({"max_words": -1}, "greater than or equal to 0"),
        ({"min_words": 3, "max_words": 2}, "min_words (3) is more than max_words (2)"),
        ({"min_chars": 3, "max_chars": 2}, "min_chars (3) is more than max_chars (2)"),
        ({"min_words": 10, "max_chars": 18}, "takes at least 19 characters"),
    ],
)
def test_bounds_that_cannot_be_met_are_refused(bounds: dict[str, int], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        LengthValidator.model_validate(bounds)
    assert reason in str(caught.value)


def test_words_that_just_fit_the_characters_are_accepted() -> None:
    assert check("a b c d", min_words=4, max_chars=7).passed


@given(st.integers(0, 40), st.integers(0, 40))
def test_fewer_words_over_the_limit_score_higher(first: int, second: int) -> None:
    scores = {
        surplus: check("word " * (10 + surplus), max_words=10).score for surplus in (first, second)
    }
    assert (scores[first] > scores[second]) == (first < second)


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_any_text_gets_a_result_with_spans_that_hold(
    text: str, words: int, characters: int
) -> None:
    result = check(text, max_words=words, max_chars=characters)
    assert result.passed == (not result.issues)
    assert (result.score == 1.0) == result.passed
    for issue in result.issues:
        assert issue.quote
        assert text[issue.start : issue.end].startswith(issue.quote)
        assert issue.end == len(text)
