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


@pytest.mark.parametrize(
    ("text", "bounds", "figures"),
    [
        ("one two three", {"min_words": 3, "max_words": 3}, ""),
        ("abc", {"min_chars": 3, "max_chars": 3}, ""),
        ("a b c d", {"min_words": 4, "max_chars": 7}, ""),
        ("", {"max_words": 0}, ""),
        ("one two three", {"max_words": 2}, "3 words, at most 2"),
        ("one", {"min_words": 2, "max_words": 4}, "1 word, between 2 and 4"),
        ("ab", {"min_chars": 3}, "2 characters, at least 3"),
    ],
)
def test_bounds_include_both_ends_and_one_over_or_under_fails_with_the_figures(
    text: str, bounds: dict[str, int], figures: str
) -> None:
    result = check(text, **bounds)
    assert result.passed == (not figures)
    assert figures in {"", result.message}


def test_the_overflow_is_pointed_at_from_where_the_limit_is_crossed_and_quoted_in_part() -> None:
    issue = only_issue(check("one two 😀 three four", max_words=2))
    assert (issue.start, issue.end, issue.quote) == (10, 20, "three four")
    assert (issue.rule, issue.category, issue.fix) == ("max_words", "length", None)
    text = "x" * 1000
    issue = only_issue(check(text, max_chars=10))
    assert (issue.end, len(issue.quote)) == (1000, 200)


def test_characters_are_those_that_a_reader_sees() -> None:
    assert check("e\u0301😀שלום", max_chars=6).passed
    assert check("👨‍👩‍👧‍👦🇫🇷", max_chars=2).message == "2 characters, at most 2"
    issue = only_issue(check("a\r\n😀b", max_chars=3))
    assert (issue.start, issue.quote) == (4, "b")


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("Das wird in 3.14 Tagen erstattet.", "6 words, at most 3"),
        ("Das kostet etwa 240,000 Euro.", "5 words, at most 3"),
        ("我们在三十天内退款。", "9 characters, at most 3"),
        ("返金はスマホで。", "7 characters, at most 3"),
        ("고객에게 모두 곧 환불합니다.", "4 words, at most 3"),
        ("हम पैसे वापस करते हैं", "5 words, at most 3"),
        ("เราคืนเงินใน", "10 characters, at most 3"),
        ("ສະບາຍດີ", "6 characters, at most 3"),
        ("iPhone 和 Android 手机", "5 words and characters, at most 3"),
        ("𠮷野家𠮷", "4 characters, at most 3"),
        ("e\u0301te\u0301 naïve « co\u0302te\u0301 » é", "4 words, at most 3"),
    ],
)
def test_the_message_says_what_was_counted(text: str, figures: str) -> None:
    result = check(text, max_words=3)
    assert result.message == figures
    (issue,) = result.issues
    assert issue.start is not None
    assert check(text[: issue.start], max_words=3).passed


@pytest.mark.slow
def test_a_megabyte_of_any_script_is_counted_in_one_pass() -> None:
    for text in ("我们在三十天内退款。", "เราคืนเงินภายในสามสิบวัน", "मा", "👨‍👩‍👧‍👦"):
        long = text * (300_000 // len(text))
        assert not check(long, max_words=10, max_chars=10).passed


def test_too_few_words_is_an_issue_without_a_place_and_what_to_do_is_suggested() -> None:
    result = check("one", min_words=3)
    assert not only_issue(result).anchored
    assert only_issue(result).rule == "min_words"
    assert result.suggestions == ("add 2 words or more",)
    assert check("a b c", max_words=2).suggestions == ("cut 1 word or more",)
    assert check("", min_words=1).score == 0.0


def test_both_units_are_checked() -> None:
    result = check("one two three", max_words=2, max_chars=5)
    assert [issue.rule for issue in result.issues] == ["max_words", "max_chars"]


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ({}, "give at least one of"),
        ({"max_words": -1}, "greater than or equal to 0"),
        ({"min_words": 3, "max_words": 2}, "min_words (3) is more than max_words (2)"),
        ({"min_chars": 3, "max_chars": 2}, "min_chars (3) is more than max_chars (2)"),
        ({"min_words": 10, "max_chars": 9}, "takes at least 10 characters"),
    ],
)
def test_bounds_that_cannot_be_met_are_refused(bounds: dict[str, int], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        LengthValidator.model_validate(bounds)
    assert reason in str(caught.value)


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
