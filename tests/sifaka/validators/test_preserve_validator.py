import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.preserve import PreserveValidator

KINDS = ("numbers", "urls", "quotes", "code", "names")


def check(original: str, text: str, *kinds: str) -> ValidationResult:
    wanted = {kind: kind in kinds for kind in KINDS} if kinds else {}
    spec = PreserveValidator.model_validate(wanted)
    return spec.check(Thought(text=text, metadata={"original": original}))


def test_there_has_to_be_an_original_and_something_to_preserve() -> None:
    result = PreserveValidator().check(Thought(text="5"))
    assert (result.passed, result.message) == (False, "no original text to compare with")
    with pytest.raises(ValidationError):
        check("", "", "nothing")


def test_what_is_gone_is_named_and_counted() -> None:
    result = check("It costs 15 or 20 dollars.", "It costs 51 or 20 dollars.")
    assert result.message == "1 of 2 gone: number 15"
    assert (result.score, result.suggestions) == (0.5, ("put back the number 15",))
    assert result.issues[0].rule == "numbers"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1,000", "1000"),
        ("1000", "1,000"),
        ("1,234,567.89", "1234567.89"),
        ("1 000".replace(" ", "\u202f"), "1000"),
        ("1’000", "1000"),
        ("−5", "-5"),
        ("at 10:30", "10:30 sharp"),
        ("١٢", "12"),
        ("50%", "50 percent"),
        ("in 2024.", "(2024)"),
    ],
)
def test_a_number_may_be_written_otherwise(before: str, after: str) -> None:
    assert check(before, after, "numbers").passed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(("1.50", "1.5"), ("1.10", "1.1"), ("-5", "5"), ("1,5", "15"), ("100", "1000")),
        *(("2024-01-05", "2024"), ("v1.2.3", "v1.2"), ("3", "three")),
    ],
)
def test_another_number_is_another_number(before: str, after: str) -> None:
    assert not check(before, after, "numbers").passed


def test_numbers_of_lists_code_and_urls_are_not_numbers_of_the_text() -> None:
    original = "1. one\n2. two\n\n`x = 9` https://a.b/8\n"
    assert check(original, "nothing", "numbers").message.startswith("nothing in the original")


def test_urls_are_compared_exactly_but_for_a_final_slash() -> None:
    assert check("see https://a.b/c/.", "https://a.b/c", "urls").passed
    assert not check("https://a.b/c", "https://a.b/C", "urls").passed
    assert not check("https://a.b/c", "https://a.b/cd", "urls").passed


@pytest.mark.parametrize(
    "quote",
    ['"We will win."', "“We will win.”", "«We will win.»", "„We will win.“", "「We will win.」"],
)
def test_a_quote_may_change_its_marks_but_not_its_words(quote: str) -> None:
    assert check(f"He said {quote}", 'So: "We will\nwin", he said.', "quotes").passed
    assert not check(f"He said {quote}", 'He said "we shall win".', "quotes").passed
    assert check('a 5" and a 6" pipe', "pipes", "quotes").passed, "inches"


def test_code_must_be_there_to_the_letter() -> None:
    original = "Run `make test` and\n\n```sh\nls -l\ncd x\n```\n"
    assert check(original, "```\nls  -l\ncd x\n```\n\n`make test`", "code").passed
    result = check(original, "Run `make tests`.\n\n```\nls\n```", "code")
    assert len(result.issues) == 1


def test_names_are_guessed_inside_sentences_and_only_when_asked_for() -> None:
    original = "Yesterday Acme hired Jane. They use GitHub at NASA."
    assert check(original, "They met Acme, Jane, GitHub and NASA.", "names").passed
    result = check(original, "Nobody.", "names")
    gone = [issue.message.split()[3] for issue in result.issues]
    assert gone == ["Acme", "Jane", "GitHub", "NASA"]
    assert check("We met Jane.", "We met her.").passed


def test_the_same_text_keeps_everything() -> None:
    text = 'Pay 1,000 to "Acme Corp" via https://a.b with `x`.'
    result = check(text, text, *KINDS)
    assert result.passed
    assert "kept" in result.message


@given(st.text(), st.text())
def test_any_two_texts_get_a_result(original: str, text: str) -> None:
    result = check(original, text, *KINDS)
    assert result.passed == (not result.issues)


@given(st.text(alphabet=st.sampled_from("a1.,-: \n`\"'“”A/#")))
def test_a_text_with_an_addition_keeps_everything_it_had(text: str) -> None:
    assert check(text, f"{text}\n\nend", "numbers", "code").passed
