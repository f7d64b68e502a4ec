import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sifaka.validators.format.yaml_text import check_yaml


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [1, 2]\n",
        "- a\n- b: c\n",
        "a: &x [1]\nb: *x\n",
        "---\na: 1\n---\nb: 2\n",
        "a: &x {k: 1}\nb:\n  <<: *x\n  k: 2\n",
        "!Ref a: 1\nb: !Sub '${x}'\n",
        "a: 1\r\nb: 2\r\n",
        "\ufeffa: 😀\n",
    ],
)
def test_everyday_yaml_passes(text: str) -> None:
    assert check_yaml(text, None).passed


@pytest.mark.parametrize(
    ("text", "reason", "quote"),
    [
        ("a: b: c", "line 1 column 5: mapping values are not allowed", ":"),
        ("😀: 1\n😀: 2\n", "line 2 column 1: the key '😀' is given twice", "😀"),
        ("a: *b", "*b refers to nothing", "*"),
        ("&a [*a]", "*a refers to itself", "*"),
        ("Just some prose.", "it is plain text", "J"),
        ("# only a comment\n", "it holds no value", "#"),
        ("a: \x07", "control characters are not allowed", "\x07"),
        ("[" * 200, "more than 100 levels deep", "["),
        ("- " * 100_000 + "a", "more than 100 levels deep", "-"),
    ],
)
def test_what_is_no_yaml_fails_with_the_place(text: str, reason: str, quote: str) -> None:
    result = check_yaml(text, None)
    assert not result.passed
    assert reason in result.message
    assert result.issues[0].quote == quote


def test_an_empty_text_fails() -> None:
    assert check_yaml(" \n", None).message == "the text is empty, not YAML"


def test_a_schema_may_allow_plain_text_and_wants_one_document() -> None:
    assert check_yaml("Just prose.", {"type": "string"}).passed
    assert "2 documents" in check_yaml("a: 1\n---\nb: 2\n", {}).message


def test_values_are_those_of_json() -> None:
    schema: dict[str, object] = {
        "properties": {
            "date": {"type": "string"},
            "1": {"type": "boolean"},
            "none": {"type": "null"},
            "raw": {"type": "string"},
        },
        "minProperties": 4,
    }
    text = "date: 2024-01-05\n1: yes\nnone: ~\nraw: !!binary aGk=\n"
    assert check_yaml(text, schema).passed


def test_no_tag_builds_an_object() -> None:
    text = "a: !!python/object/apply:os.system ['exit 1']\n"
    assert check_yaml(text, {"properties": {"a": {"type": "array"}}}).passed


@pytest.mark.parametrize("value", ["!!bool x", "!!int ''", "!!float x", "!!map x"])
def test_a_value_that_does_not_suit_its_tag_fails(value: str) -> None:
    assert not check_yaml(f"a: {value}\n", {}).passed


@pytest.mark.parametrize("merge", ["", "<<: "])
def test_an_alias_bomb_is_refused_at_once(merge: str) -> None:
    lines = ["a0: &a0 {k: [x, x, x, x, x, x, x, x, x, x]}"]
    for level in range(1, 12):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} {{{merge or 'k: '}[{aliases}]}}")
    began = time.monotonic()
    result = check_yaml("\n".join(lines), {})
    assert "aliases add more than" in result.message
    assert time.monotonic() - began < 20, "it hangs"


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text() | st.text(alphabet=st.sampled_from("a1:-?[]{}&*!|>'\"#% \n\t,<~.")))
def test_any_text_gets_a_result_with_spans_that_hold(text: str) -> None:
    for schema in (None, {"type": "string"}):
        for issue in check_yaml(text, schema).issues:
            if issue.anchored:
                assert text[issue.start : issue.end].startswith(issue.quote)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: Pay\ntags: [a]\n---\n\n# Pay\n\nIt is paid: on the 5th: always.\n",
        "---\ntitle: Pay\n---\nIt's [not] YAML.\n",
        "\ufeff---\r\ntitle: Pay\r\n---\r\nSome *prose*.\r\n",
    ],
)
def test_of_markdown_the_front_matter_is_checked(text: str) -> None:
    assert check_yaml(text, None).passed


def test_front_matter_fits_the_schema_alone_and_its_faults_are_told() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    page = "---\ntitle: {}\n---\n\nSome prose: with colons: here.\n"
    assert check_yaml(page.format("Pay"), schema).passed
    assert not check_yaml(page.format("5"), schema).passed
    broken = check_yaml(page.format("a: b"), None)
    assert not broken.passed
    assert "line 2" in broken.message


@pytest.mark.parametrize(
    "text", ["---\na: 1\n---\nb: [1\n", "---\na: 1\n---\n- [x\n", "---\na: 1\n---\n{x\n"]
)
def test_a_further_document_is_not_taken_for_prose(text: str) -> None:
    assert not check_yaml(text, None).passed
