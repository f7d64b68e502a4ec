"""Validators from plain data, and the one line that says what is wrong with it."""

import json
from importlib.util import find_spec
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from sifaka._internal.explain import explain
from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import (
    VALIDATORS,
    ForeignValidator,
    LengthValidator,
    ValidatorSpec,
    parse_validators,
)

SPECS: list[dict[str, object]] = [
    {"type": "length", "max_words": 120},
    {"type": "regex", "must_match": ["a"], "required": False},
    {
        "type": "content",
        "required": ["a"],
        "prohibited": ["b", {"term": "c", "replacement": "d"}],
        "must_pass": False,
    },
    {"type": "format", "format": "json", "schema": {"type": "object"}, "name": "shape"},
    {"type": "readability", "max_grade": 9},
    {"type": "preserve", "names": True},
    {"type": "language", "expected": "en"},
    {"type": "classifier", "name": "toxicity", "threshold": 0.8},
    {"type": "evidence", "search": False},
    {"type": "report"},
]


def wrong(*specs: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_validators(specs)  # pyright: ignore[reportArgumentType] # wrong on purpose
    assert "\n" not in caught.value.message
    return caught.value.message


def test_every_type_is_parsed_in_order() -> None:
    validators = parse_validators(SPECS)
    of_no_extra = [kind for name, kind in VALIDATORS.items() if name != "guardrails"]
    assert [type(each) for each in validators] == of_no_extra
    names = "length regex content shape readability preserve language classifier:toxicity"
    assert [each.name for each in validators] == f"{names} evidence report".split()
    assert [each.required for each in validators] == [True, False, False, *[True] * 7]


def test_every_spec_survives_json_and_cannot_be_changed() -> None:
    for validator in parse_validators(SPECS):
        adapter = TypeAdapter[object](type(validator))
        assert parse_validators([json.loads(adapter.dump_json(validator))]) == (validator,)
    spec = LengthValidator(max_words=3)
    with pytest.raises(ValueError, match="frozen"):
        spec.max_words = 4


def test_a_validator_stays_as_it_is() -> None:
    class Mine:
        name = "mine"
        required = False

        def validate(self, thought: Thought) -> ValidationResult:
            return ValidationResult(passed=bool(thought.text))

    mine, length = Mine(), LengthValidator(max_words=5)
    foreign, own = parse_validators([mine, length])
    assert own is length
    assert isinstance(foreign, ForeignValidator)
    assert foreign.inner is mine
    assert (foreign.name, foreign.required) == ("mine", False)


KNOWN = f"known: {', '.join(VALIDATORS)}"
FORMATS = "'csv', 'html', 'json', 'markdown', 'toml', 'xml' or 'yaml'"


@pytest.mark.parametrize(
    ("spec", "where", "message"),
    [
        ({"type": "lenght"}, "", f"unknown type 'lenght'; did you mean 'length'? {KNOWN}"),
        ({"max_words": 1}, "", f"'type' is missing; {KNOWN}"),
        ("length", "", "should be an object, not 'length'"),
        (None, "", "should be an object, not null"),
        ({"type": "length", "max_words": -3}, ".max_words", "should be at least 0, not -3"),
        ({"type": "length", "max_words": "x"}, ".max_words", "should be a whole number, not 'x'"),
        (
            {"type": "length", "max_word": 3},
            "",
            "unknown option 'max_word'; did you mean 'max_words'? length takes "
            "name, required, min_words, max_words, min_chars, max_chars",
        ),
        ({"type": "length"}, "", "give at least one of min_words, max_words, min_chars, max_chars"),
        (
            {"type": "regex", "must_match": ["a", "(b"]},
            ".must_match[1]",
            "broken regex '(b': missing ) at position 2",
        ),
        ({"type": "regex", "must_match": "a"}, ".must_match", "should be a list, not 'a'"),
        ({"type": "content", "prohibited": ["a", ""]}, ".prohibited[1]", "a term is empty"),
        (
            {"type": "content", "prohibited": [{"term": " ", "replacement": "x"}]},
            ".prohibited[0].term",
            "a term is empty",
        ),
        (
            {"type": "content", "prohibited": [7]},
            ".prohibited[0]",
            "should be a string or an object, not 7",
        ),
        ({"type": "format", "format": "ini"}, ".format", f"should be {FORMATS}, not 'ini'"),
        ({"type": "format"}, ".format", "is missing"),
        (
            {"type": "format", "format": "json", "schema": {"$ref": "http://x.y/z"}},
            ".schema",
            "'http://x.y/z' is not within the schema, and nothing is fetched",
        ),
        (
            {"type": "length", "max_words": 1, "name": " "},
            ".name",
            "should be a printable name of 1 to 80 characters",
        ),
    ],
)
def test_one_line_says_what_is_wrong_where_and_what_is_allowed(
    spec: object, where: str, message: str
) -> None:
    assert wrong(SPECS[0], spec) == f"validators[1]{where}: {message}"


def test_there_is_a_number_of_validators_that_is_too_large() -> None:
    assert wrong(*[SPECS[0]] * 51) == "validators: should be at most 50, not 51"
    assert "should be at least 1 items long, not 0" in wrong_guardrails()
    assert "should be at most 20 items long, not 21" in wrong_guardrails(*["regex-match"] * 21)


def test_the_published_schema_is_terse() -> None:
    schema = TypeAdapter[object](ValidatorSpec).json_schema()
    text = json.dumps(schema, separators=(",", ":"))
    assert len(text) < 3_100
    assert "title" not in text
    assert "null" not in text
    assert schema["$defs"]["FormatValidator"]["properties"]["schema"] == {"type": "object"}


@pytest.mark.parametrize(
    ("specs", "told"),
    [
        (
            [{"type": "length", "max_words": 20}, {"type": "length", "min_words": 30}],
            "min_words (30) is more than max_words (20)",
        ),
        (
            [{"type": "length", "min_words": 30}, {"type": "length", "max_chars": 20}],
            "min_words (30) takes at least 30 characters",
        ),
        (
            [
                {"type": "content", "required": ["free of charge"]},
                {"type": "content", "prohibited": [{"term": "free", "replacement": "no cost"}]},
            ],
            "required 'free of charge' cannot be met: 'free' is prohibited",
        ),
        (
            [{"type": "regex", "must_match": ["a+"]}, {"type": "regex", "must_not_match": ["a+"]}],
            "'a+' must match and must not",
        ),
        (
            [{"type": "language", "expected": "en"}, {"type": "language", "expected": "de"}],
            "not in de and en",
        ),
    ],
)
def test_required_rules_that_exclude_each_other_are_said_at_once(
    specs: list[dict[str, object]], told: str
) -> None:
    assert told in wrong(*specs)
    assert told in wrong(*reversed(specs))
    key = "must_pass" if specs[1]["type"] == "content" else "required"
    assert len(parse_validators([specs[0], {**specs[1], key: False}])) == 2


def test_rules_that_only_look_like_a_contradiction_are_taken() -> None:
    parse_validators(
        [
            {"type": "length", "max_words": 20},
            {"type": "length", "min_words": 20, "max_chars": 300},
            {"type": "content", "required": ["Free"]},
            {"type": "content", "prohibited": ["free"], "case_sensitive": True},
            {"type": "content", "required": ["freedom"], "prohibited": ["damage"]},
            {"type": "regex", "must_match": ["a"]},
            {"type": "regex", "must_not_match": ["b"]},
        ]
    )


class Budget(BaseModel):
    max_calls: int | None = Field(default=None, ge=1)


class Arguments(BaseModel, extra="forbid"):
    text: Annotated[str, Field(min_length=1, max_length=10)]
    effort: Literal["quick", "standard"] = "standard"
    budget: Budget | None = None
    critics: list[str | dict[str, str]] = []
    limit: int = Field(default=1, le=50)


def explained(**arguments: object) -> str:
    with pytest.raises(ValidationError) as caught:
        Arguments.model_validate(arguments)
    return explain(caught.value, tags=VALIDATORS)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "text: is missing"),
        ({"text": ""}, "text: should be at least 1 characters long, not 0"),
        ({"text": "x" * 11}, "text: should be at most 10 characters long, not 11"),
        ({"text": None}, "text: should be a string, not null"),
        ({"text": {}}, "text: should be a string, not an object"),
        ({"text": "x", "effort": "hard"}, "effort: should be 'quick' or 'standard', not 'hard'"),
        ({"text": "x", "limit": 99}, "limit: should be at most 50, not 99"),
        ({"text": "x", "tone": 1}, "tone: is not a known option"),
        (
            {"text": "x", "budget": {"max_calls": 0}},
            "budget.max_calls: should be at least 1, not 0",
        ),
        ({"text": "x", "budget": 3}, "budget: should be an object, not 3"),
        ({"text": "x", "critics": [3]}, "critics[0]: should be a string or an object, not 3"),
        ({"effort": "hard", "limit": 99}, "text: is missing (and 2 more)"),
    ],
)
def test_the_first_error_is_one_line(arguments: dict[str, object], line: str) -> None:
    assert explained(**arguments) == line


def test_a_long_value_is_cut_and_line_breaks_are_gone() -> None:
    line = explained(text="x", effort="a\nb" * 100)
    assert "\n" not in line
    assert len(line) < 120


def test_the_root_comes_first() -> None:
    with pytest.raises(ValidationError) as caught:
        Budget.model_validate({"max_calls": "x"})
    line = "budget.max_calls: should be a whole number, not 'x'"
    assert explain(caught.value, "budget") == line
    with pytest.raises(ValidationError) as caught:
        Budget.model_validate(3)
    assert explain(caught.value) == "should be an object, not 3"


def wrong_guardrails(*validators: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_validators([{"type": "guardrails", "validators": list(validators)}])
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.skipif(find_spec("guardrails") is not None, reason="Guardrails is installed")
@pytest.mark.parametrize(
    "name",
    ["regex-match", "regex_match", "guardrails/regex_match", "hub://guardrails/regex_match",
     "guardrails-ai-regex-match"],
)  # fmt: skip
def test_a_missing_package_is_named_with_what_installs_it(name: str) -> None:
    message = wrong_guardrails({"name": name, "args": {"regex": "a"}})
    assert "the Guardrails validator 'regex-match' is not installed" in message
    assert install("guardrails", beside="guardrails-ai-regex-match") in message


@pytest.mark.parametrize("name", ["", "../regex", "os.path", "Regex", "a b", "x" * 61])
def test_what_is_no_name_is_refused(name: str) -> None:
    assert "is no name of a Guardrails validator" in wrong_guardrails(name)


@pytest.mark.parametrize("option", ["use_local", "validation_endpoint", "on_fail"])
def test_what_would_send_the_text_away_is_refused(option: str) -> None:
    message = wrong_guardrails({"name": "regex-match", "args": {option: "x"}})
    assert f"'{option}' cannot be given" in message
