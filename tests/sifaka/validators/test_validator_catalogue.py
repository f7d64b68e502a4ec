import json

import pytest
from pydantic import TypeAdapter

from sifaka.errors import ConfigurationError
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
    {"type": "content", "required": ["a"], "prohibited": ["b", {"term": "c", "replacement": "d"}]},
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
    assert [each.name for each in validators] == [
        "length",
        "regex",
        "content",
        "shape",
        "readability",
        "preserve",
        "language",
        "classifier:toxicity",
        "evidence",
        "report",
    ]
    assert [each.required for each in validators] == [True, False, *[True] * 8]


def test_every_spec_survives_json() -> None:
    for validator in parse_validators(SPECS):
        adapter = TypeAdapter[object](type(validator))
        assert parse_validators([json.loads(adapter.dump_json(validator))]) == (validator,)


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


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"type": "lenght"},
            f"validators[1]: unknown type 'lenght'; did you mean 'length'? "
            f"known: {', '.join(VALIDATORS)}",
        ),
        (
            {"max_words": 1},
            f"validators[1]: 'type' is missing; known: {', '.join(VALIDATORS)}",
        ),
        ("length", "validators[1]: should be an object, not 'length'"),
        (None, "validators[1]: should be an object, not null"),
        (
            {"type": "length", "max_words": -3},
            "validators[1].max_words: should be at least 0, not -3",
        ),
        (
            {"type": "length", "max_words": "few"},
            "validators[1].max_words: should be a whole number, not 'few'",
        ),
        (
            {"type": "length", "max_word": 3},
            "validators[1]: unknown option 'max_word'; did you mean 'max_words'? length takes "
            "name, required, min_words, max_words, min_chars, max_chars",
        ),
        (
            {"type": "length"},
            "validators[1]: give at least one of min_words, max_words, min_chars, max_chars",
        ),
        (
            {"type": "regex", "must_match": ["a", "(b"]},
            "validators[1].must_match[1]: broken regex '(b': missing ) at position 2",
        ),
        (
            {"type": "regex", "must_match": "a"},
            "validators[1].must_match: should be a list, not 'a'",
        ),
        (
            {"type": "content", "prohibited": ["a", ""]},
            "validators[1].prohibited[1]: a term is empty",
        ),
        (
            {"type": "content", "prohibited": [{"term": " ", "replacement": "x"}]},
            "validators[1].prohibited[0].term: a term is empty",
        ),
        (
            {"type": "content", "prohibited": [7]},
            "validators[1].prohibited[0]: should be a string or an object, not 7",
        ),
        (
            {"type": "format", "format": "xml"},
            "validators[1].format: should be 'json', 'markdown' or 'yaml', not 'xml'",
        ),
        ({"type": "format"}, "validators[1].format: is missing"),
        (
            {"type": "format", "format": "json", "schema": {"$ref": "http://x.y/z"}},
            "validators[1].schema: 'http://x.y/z' is not within the schema, and nothing is fetched",
        ),
        (
            {"type": "length", "max_words": 1, "name": " "},
            "validators[1].name: should be a printable name of 1 to 80 characters",
        ),
    ],
)
def test_one_line_says_what_is_wrong_where_and_what_is_allowed(spec: object, message: str) -> None:
    assert wrong(SPECS[0], spec) == message


def test_too_many_validators_are_refused() -> None:
    assert wrong(*[SPECS[0]] * 51) == "validators: should be at most 50, not 51"


def test_the_published_schema_is_terse() -> None:
    schema = TypeAdapter[object](ValidatorSpec).json_schema()
    text = json.dumps(schema, separators=(",", ":"))
    assert len(text) < 3_100
    assert "title" not in text
    assert "null" not in text
    assert schema["$defs"]["FormatValidator"]["properties"]["schema"] == {"type": "object"}


def test_a_spec_cannot_be_changed() -> None:
    spec = LengthValidator(max_words=3)
    with pytest.raises(ValueError, match="frozen"):
        spec.max_words = 4


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
