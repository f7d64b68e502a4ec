import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.record.results import Issue
from sifaka.record.thought import Thought
from sifaka.validators.content import ContentValidator, Replacement


def issues(spec: ContentValidator, text: str) -> tuple[Issue, ...]:
    return spec.validate(Thought(text=text)).issues


def banning(*terms: str, whole_word: bool = True) -> ContentValidator:
    return ContentValidator(prohibited=terms, whole_word=whole_word)


def replacing(term: str, replacement: str) -> ContentValidator:
    return ContentValidator(prohibited=[Replacement(term=term, replacement=replacement)])


def fixed(spec: ContentValidator, text: str) -> str:
    for issue in reversed(issues(spec, text)):
        assert issue.fix is not None
        assert issue.safe
        text = text[: issue.start] + issue.fix + text[issue.end :]
    return text


def test_missing_terms_fail_with_what_to_do_and_a_text_with_all_passes() -> None:
    result = ContentValidator(required=["refund policy", "price"]).validate(
        Thought(text="The price is low.")
    )
    assert result.message == "1 missing: 'refund policy'"
    assert result.suggestions == ("mention 'refund policy'",)
    assert result.score == 0.5

    spec = ContentValidator(required=["price"], prohibited=["leverage"])
    result = spec.validate(Thought(text="The price is low."))
    assert (result.passed, result.score) == (True, 1.0)
    assert result.message == "1 of 1 required terms, no prohibited term"


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("refund policy", "the Refund\r\n  Policy"),
        ("don't", "we don’t"),
        ("don’t", "we don't"),
        ("café", "a cafe\u0301 here"),
        ("cafe\u0301", "a café here"),
        ("C++", "in C++, of course"),
        (".NET", "the .NET runtime"),
        ("合同", "这份合同是新的"),
        ("API", "使用API接口"),
        ("שלום", "אמר שלום לכולם"),
    ],
)
def test_a_term_is_found(term: str, text: str) -> None:
    assert len(issues(banning(term), text)) == 1


def test_a_whole_word_is_not_found_inside_another_unless_parts_are_asked_for() -> None:
    for term, text in (("cafe", "a cafe\u0301 here"), ("a.c", "abc"), ("C", "Cats")):
        assert issues(banning(term), text) == ()
    assert issues(banning("use"), "because user reuse use_case") == ()
    assert len(issues(banning("use", whole_word=False), "because reuse")) == 2


def test_case_matters_only_when_asked() -> None:
    assert issues(banning("acme"), "ACME")
    assert not issues(ContentValidator(prohibited=["acme"], case_sensitive=True), "ACME")


def test_every_occurrence_is_an_issue_with_its_place() -> None:
    found = issues(banning("leverage"), "😀 Leverage it, leverage!")
    assert [(issue.start, issue.end, issue.quote) for issue in found] == [
        (2, 10, "Leverage"),
        (15, 23, "leverage"),
    ]
    assert all(issue.fix is None and not issue.safe for issue in found)


def test_a_term_inside_a_longer_prohibited_one_counts_once() -> None:
    found = issues(banning("unique", "very unique"), "It is very unique.")
    assert [issue.quote for issue in found] == ["very unique"]


def test_a_replacement_keeps_the_case_of_what_it_replaces_but_for_a_name() -> None:
    text = "Utilize it. We utilize it. UTILIZE IT."
    assert fixed(replacing("utilize", "use"), text) == "Use it. We use it. USE IT."
    assert fixed(replacing("Twitter", "X"), "on Twitter") == "on X"
    assert fixed(replacing("API", "interface"), "an API") == "an interface"


def test_a_deletion_takes_one_space_with_it_and_is_not_safe_where_a_sentence_begins() -> None:
    spec = replacing("very", "")
    assert fixed(spec, "It is very good. It is good very.") == "It is good. It is good."
    (issue,) = issues(spec, "Very good.")
    assert (issue.fix, issue.safe) == ("", False)


@pytest.mark.parametrize(
    "text", ["see https://x.org/utilize now", "run `utilize` now", "```\nutilize\n```\n"]
)
def test_a_replacement_in_a_url_or_in_code_is_not_safe(text: str) -> None:
    (issue,) = issues(replacing("utilize", "use"), text)
    assert (issue.fix, issue.safe) == ("use", False)


def test_the_applied_fixes_pass_the_validator() -> None:
    spec = ContentValidator(
        prohibited=[
            Replacement(term="utilize", replacement="use"),
            Replacement(term="in order to", replacement="to"),
        ]
    )
    text = fixed(spec, "In order to win, UTILIZE it; utilize\nit in order\nto win.")
    assert spec.validate(Thought(text=text)).passed
    assert text == "To win, USE it; use\nit to win."


def test_fewer_occurrences_score_higher() -> None:
    scores = [banning("x").validate(Thought(text="x " * count)).score for count in range(5)]
    assert scores == sorted(set(scores), reverse=True)


def test_required_is_the_flag_or_the_terms_by_its_type() -> None:
    assert ContentValidator(required=["a"]).required is True
    assert ContentValidator(required=["a"], must_pass=False).required is False
    assert ContentValidator(required=["a"]).model_dump()["required"] == ("a",)
    spec = ContentValidator.model_validate({"required": False, "prohibited": ["x"]})
    assert (spec.required, spec.required_terms) == (False, ())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "give at least one term"),
        ({"required": [" "]}, "a term is empty"),
        ({"required": ["x"] * 201}, "at most 200"),
        ({"required": ["x" * 501]}, "at most 500"),
        ({"prohibited": [{"term": "app", "replacement": "an app store"}]}, "contains prohibited"),
        ({"required": ["the app"], "prohibited": ["app"]}, "cannot be met"),
    ],
)
def test_terms_that_make_no_sense_are_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ContentValidator.model_validate(options)
    assert reason in str(caught.value)


@pytest.mark.slow
@given(
    st.text(alphabet=st.sampled_from("ab \n`'’.éE\u0301合")),
    st.text(alphabet=st.sampled_from("ab '’.é合")).filter(str.strip),
)
def test_any_term_in_any_text_gets_spans_that_hold(text: str, term: str) -> None:
    for spec in (banning(term), banning(term, whole_word=False), replacing(term, "")):
        for issue in issues(spec, text):
            assert issue.quote
            assert text[issue.start : issue.end].startswith(issue.quote)
