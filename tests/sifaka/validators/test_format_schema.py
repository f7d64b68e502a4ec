import json
import time
from datetime import date

import pytest
from pydantic import ValidationError

from sifaka.record.thought import Thought
from sifaka.validators.format import SHORT_SCHEMA, FormatValidator
from sifaka.validators.format.schema import VIOLATION_LIMIT, check_schema, violations

pytestmark = pytest.mark.anyio

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^A[0-9]+$"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
    },
    "required": ["id"],
    "additionalProperties": False,
    "$defs": {"item": {"type": "integer"}},
}


async def test_schema_is_the_name_in_the_constructor_on_the_wire_and_in_dumps() -> None:
    spec = FormatValidator(format="json", schema={"type": "array"})
    assert spec.model_dump()["schema"] == {"type": "array"}
    assert FormatValidator.model_validate_json(spec.model_dump_json()) == spec
    assert (await spec.validate(Thought(text="[]"))).passed
    assert not (await spec.validate(Thought(text="{}"))).passed


async def test_each_violation_names_its_path_and_points_at_the_value() -> None:
    text = '{"id": "B2", "items": [1, "two 😀"], "extra": 1}'
    result = await FormatValidator(format="json", schema=ORDER).validate(Thought(text=text))
    found = {issue.message: issue.quote for issue in result.issues}
    assert found["$.id: 'B2' does not match '^A[0-9]+$'"] == '"B2"'
    assert found["$.items[1]: 'two 😀' is not of type 'integer'"] == '"two 😀"'
    assert found["$: has properties that the schema does not know: 'extra'"] == text
    assert 0.5 < result.score < 1


async def test_the_value_of_yaml_is_pointed_at_too() -> None:
    text = "id: A1\nitems:\n- 1\n- two 😀\n"
    result = await FormatValidator(format="yaml", schema=ORDER).validate(Thought(text=text))
    (issue,) = result.issues
    assert (issue.quote, issue.start) == ("two 😀", text.index("two"))


def test_fewer_violations_are_reported_than_there_are() -> None:
    assert len(violations({"items": {"type": "string"}}, list(range(1000)))) == VIOLATION_LIMIT


@pytest.mark.parametrize(
    ("schema", "value", "count"),
    [
        ({"patternProperties": {"^x": {"type": "integer"}}}, {"xa": "s", "b": 1}, 1),
        (
            {"patternProperties": {"^x": True}, "additionalProperties": {"type": "null"}},
            {"xa": 1, "b": 1},
            1,
        ),
        ({"uniqueItems": True}, [1, 1.0], 1),
        ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], 1),
        ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}], 0),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, 1, 1),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "const": 1}, 2, 1),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "required": ["a"]}, {}, 1),
    ],
)
def test_keywords_mean_what_json_schema_says(
    schema: dict[str, object], value: object, count: int
) -> None:
    assert len(violations(schema, value)) == count


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "strng"}, "at type: 'strng' is not one of"),
        ({"properties": {"a": {"pattern": "("}}}, "at properties.a: broken regex"),
        ({"$ref": "https://example.org/schema.json"}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "nothing is fetched"),
        ({"items": {"$schema": "http://json-schema.org/draft-07/schema#"}}, "at the top only"),
        ({"description": "x" * 100_001}, "at most 100000"),
        (
            {"unevaluatedProperties": False, "patternProperties": {"^a": True}},
            "use additionalProperties",
        ),
    ],
)
@pytest.mark.parametrize("padding", [{}, {"$comment": "x" * SHORT_SCHEMA}], ids=["short", "long"])
def test_a_schema_that_cannot_be_used_is_refused(
    schema: dict[str, object], reason: str, padding: dict[str, object]
) -> None:
    with pytest.raises(ValidationError) as caught:
        FormatValidator(format="json", schema=schema | padding)
    assert reason in str(caught.value)


def test_markdown_takes_no_schema() -> None:
    with pytest.raises(ValidationError):
        FormatValidator(format="markdown", schema={})


async def test_a_catastrophic_pattern_in_a_schema_ends_in_time() -> None:
    slow = {"type": "array", "items": {"pattern": "^(a|aa)+$"}}
    text = json.dumps(["a" * 40 + "!"] * 100)
    began = time.monotonic()
    result = await FormatValidator(format="json", schema=slow).validate(Thought(text=text))
    assert time.monotonic() - began < 20, "it hangs"
    assert "took too long" in result.message


async def test_a_schema_that_refers_to_itself_without_end_fails() -> None:
    spec = FormatValidator(format="json", schema={"$ref": "#"})
    result = await spec.validate(Thought(text="1"))
    assert "nested too deeply" in result.message


@pytest.mark.parametrize("value", [date(2020, 1, 1), {"a", "b"}])
def test_a_schema_with_what_json_cannot_hold_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(ValueError, match="it holds what JSON cannot") as error:
        check_schema({"type": "object", "default": value})
    assert "\n" not in str(error.value)
