import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.classifiers.english import syllables
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.readability import ReadabilityValidator
from tests.stubs.cost import seconds

EASY = "The cat sat on the mat. It was a good day. We had fun in the sun."
HARD = (
    "The organisation's implementation of interoperable methodologies necessitates considerable "
    "administrative coordination across geographically distributed institutional stakeholders."
)


def check(text: str, max_grade: float = 8) -> ValidationResult:
    return ReadabilityValidator(max_grade=max_grade).check(Thought(text=text))


def test_hard_prose_fails_with_its_hardest_sentence_and_its_long_words() -> None:
    assert check(EASY).passed
    assert not check(HARD).passed
    text = f"{EASY} {HARD} {EASY}"
    (issue,) = check(text, 6).issues
    assert text[issue.start : issue.end] == HARD
    assert issue.rule == "max_grade"
    assert any("'interoperable'" in advice for advice in check(HARD).suggestions)

    short_words = check("The cat sat on the mat and the dog ran to the sea in the sun.", 2)
    assert short_words.suggestions == ("write shorter sentences",)
    assert check("Silly money matters.", 2).suggestions == ("use words of fewer syllables",)


def test_the_grade_is_flesch_kincaids() -> None:
    # 5 words, 1 sentence, 5 syllables: 0.39 * 5 + 11.8 * 1 - 15.59
    assert check("The cat sat on mats.").message.startswith("grade -1.8, at most 8 ")
    # 4 words, 2 sentences, 15 syllables: 0.39 * 2 + 11.8 * 3.75 - 15.59
    assert check("Family communication. Important ability.").message.startswith("grade 29.4")


def test_a_nearer_text_scores_higher() -> None:
    scores = [check(" ".join([HARD, *[EASY] * count]), 2).score for count in range(4)]
    assert scores == sorted(set(scores))


def test_items_of_a_list_are_sentences() -> None:
    items = "\n".join(f"- the cat sat on the mat {number}" for number in range(30))
    assert check(items).passed


def test_headings_tables_code_and_urls_do_not_count() -> None:
    noise = (
        "# Institutional interoperability considerations\n\n| administrative | coordination |\n\n"
        "```\ninteroperability considerations necessitate administration\n```\n\n"
        "Go to https://example.org/interoperability/considerations/administrative now.\n"
    )
    assert check(f"{noise}\n{EASY}").passed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no English prose to measure"),
        ("   \n", "no English prose to measure"),
        ("12 34 56", "no English prose to measure"),
        ("```\ncode\n```\n", "no English prose to measure"),
        ("这是一个测试。我们很高兴。", "the formula is for English; the text reads as 'zh'"),
        (
            "Das ist eine Prüfung, und wir sind nicht sicher, ob sie auch für uns gilt.",
            "the formula is for English; the text reads as 'de'",
        ),
    ],
)
def test_what_cannot_be_measured_is_not_checked_and_says_so(text: str, reason: str) -> None:
    result = check(text, 0)
    assert (result.passed, result.unchecked) == (True, reason)
    assert result.message == f"not checked: {reason}"


@pytest.mark.parametrize("grade", [-1, 51, float("nan"), float("inf")])
def test_an_impossible_grade_is_refused(grade: float) -> None:
    with pytest.raises(ValidationError):
        ReadabilityValidator(max_grade=grade)


KNOWN = {
    "the": 1, "table": 2, "makes": 1, "walked": 1, "wanted": 2, "boxes": 2, "nation": 2,
    "video": 3, "actual": 3, "trying": 2, "didn't": 2, "movement": 2, "element": 3,
    "something": 2, "happier": 3, "cried": 1, "readability": 5, "organization": 5,
    "algorithm": 4, "people": 2, "every": 2, "language": 2, "available": 4, "experience": 4,
    "client": 2, "patient": 2, "science": 2, "various": 3, "period": 3, "social": 2, "create": 2,
    "reality": 4, "value": 2, "technique": 2, "file": 1, "houses": 2, "user": 2, "beautiful": 3,
    "government": 3, "service": 2, "messages": 3, "judged": 1, "needed": 2, "called": 1,
    "playing": 2, "being": 2, "reviewer": 3, "little": 2, "company": 3, "responsibility": 6,
    "mathematics": 4, "rhythm": 2, "mechanism": 4, "hopeful": 2, "employee": 3, "dialogue": 3,
    "museum": 3, "quote": 1, "required": 2, "software": 2, "therefore": 2, "clothes": 1,
    "analysis": 4, "naïve": 2, "well-known": 2, "user's": 2, "I": 1, "café": 2,
}  # fmt: skip


def test_syllables_are_right_for_common_words() -> None:
    assert {word: syllables(word) for word in KNOWN} == KNOWN


@given(st.text())
def test_any_text_gets_a_result_with_spans_that_hold(text: str) -> None:
    for issue in check(text, 0).issues:
        assert issue.quote
        assert text[issue.start : issue.end].startswith(issue.quote)


@given(st.text())
def test_any_word_has_at_least_one_syllable(word: str) -> None:
    assert syllables(word) >= 1


@pytest.mark.parametrize("piece", ["`", "a", "aA", "a. ", "e.g. ", "“"])
def test_a_hostile_text_is_measured_in_time(piece: str) -> None:
    assert seconds(lambda: check(piece * (100_000 // len(piece)))) < 5
