"""JSON with and without a schema, YAML and Markdown."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.format import SHORT_SCHEMA, FormatValidator, json_text, yaml_text
from sifaka.validators.format.json_text import locate, repaired
from sifaka.validators.format.markdown_text import check as check_markdown
from sifaka.validators.format.reading import checked
from sifaka.validators.format.schema import VIOLATION_LIMIT, schema_json, violations
from tests.stubs.cost import seconds

pytestmark = pytest.mark.anyio


def check_json(text: str, schema: Mapping[str, object] | None) -> ValidationResult:
    return checked("JSON", text, schema, json_text.read)


def check_yaml(text: str, schema: Mapping[str, object] | None) -> ValidationResult:
    return checked("YAML", text, schema, yaml_text.read)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


async def check(text: str, schema: dict[str, object] | None = None) -> ValidationResult:
    return await FormatValidator(format="json", schema=schema).validate(Thought(text=text))


def only_issue(result: ValidationResult) -> Issue:
    (issue,) = result.issues
    return issue


async def test_json_passes() -> None:
    assert (await check(' {"a": [1, null]} ')).message == "valid JSON"


async def test_what_is_no_json_fails_with_the_place() -> None:
    result = await check('{"a": 1,\n "b" 2, "c": "x y z", }')
    assert result.message == "invalid JSON at line 2 column 6: expecting ':' delimiter"


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "[-Infinity]", "", " \n", "[1] [2]", "'a'"])
async def test_nothing_is_json_that_the_standard_refuses(text: str) -> None:
    assert not (await check(text)).passed


async def test_hostile_input_fails_in_one_line() -> None:
    for text in ("[" * 100_000, "1" * 10_000, '{"a":' * 10_000):
        result = await check(text)
        assert not result.passed
        assert "\n" not in result.message


@pytest.mark.parametrize(
    ("broken", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'it is', 'b': [1, 2}", {"a": "it is", "b": [1, 2]}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ("{a: None, b: True} // note", {"a": None, "b": True}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is:\n```json\n{"a": 1}\n```\nBye', {"a": 1}),
        ('Here it is: {"a": "a long enough value"}', {"a": "a long enough value"}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"price": 19.90,}', {"price": 19.9}),
        ('{"s": "he said "hi" twice",}', {"s": 'he said "hi" twice'}),
        ('{"s": "caf\\u00e9 😀",}', {"s": "café 😀"}),
    ],
)
async def test_json_that_is_nearly_right_gets_a_safe_fix_that_passes(
    broken: str, value: object
) -> None:
    issue = only_issue(await check(broken))
    assert (issue.start, issue.end, issue.safe) == (0, len(broken), True)
    assert issue.fix is not None
    assert json.loads(issue.fix) == value
    assert (await check(issue.fix)).passed


@pytest.mark.parametrize(
    "text",
    [
        "Just some prose, with [1] a note and {2} another.",
        "- a\n- b\n",
        '{"a": , "b": 2}',
        '{"a": 1, "a": 2,}',
        '{"a":1}, and then a long remark that is much longer than the object before it.',
        "[]x",
        "{}}",
        "[[[",
        '{"price": 1.00000000000000000001,}',
    ],
)
async def test_what_a_repair_would_lose_or_invent_is_not_repaired(text: str) -> None:
    issue = only_issue(await check(text))
    assert issue.fix is None


async def test_a_repair_must_fit_the_schema() -> None:
    broken = '{"a": 1,}'
    assert only_issue(await check(broken, {"required": ["a"]})).fix
    assert only_issue(await check(broken, {"required": ["b"]})).fix is None


@pytest.mark.parametrize(
    ("broken", "fix"),
    [
        ('{\n    "a": [1, 2],\n}\n', '{\n    "a": [\n        1,\n        2\n    ]\n}\n'),
        ('{"a":1,"b":[1,2],}', '{"a":1,"b":[1,2]}'),
        ('{"a": 1, "b": 2,}', '{"a": 1, "b": 2}'),
        ('{\r\n  "a": 1,\r\n}\r\n', '{\r\n  "a": 1\r\n}\r\n'),
    ],
)
def test_a_repair_keeps_the_layout(broken: str, fix: str) -> None:
    assert repaired(broken) == fix


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), '{"a": [1, {"b": "x"}], "a": [2, {"b": "y😀"}], "c": 3}'),
        (("a",), '[2, {"b": "y😀"}]'),
        (("a", 1, "b"), '"y😀"'),
        (("c",), "3"),
        (("d",), None),
        (("a", 9), None),
        (("c", "x"), None),
    ],
)
def test_a_value_is_found_by_its_path(path: tuple[str | int, ...], expected: str | None) -> None:
    text = '  {"a": [1, {"b": "x"}], "a": [2, {"b": "y😀"}], "c": 3}  '
    span = locate(text, path)
    assert (text[span[0] : span[1]] if span else None) == expected


@pytest.mark.slow
@given(VALUES)
def test_every_value_that_was_written_passes(value: object) -> None:
    assert check_json(json.dumps(value, ensure_ascii=False), None).passed


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text() | st.text(alphabet=st.sampled_from("{}[]\",:'ab1.- \n`/#*\\u0e")))
def test_any_text_gets_a_result_and_every_fix_passes(text: str) -> None:
    for issue in check_json(text, None).issues:
        if issue.anchored:
            assert text[issue.start : issue.end].startswith(issue.quote)
        if issue.fix is not None:
            assert check_json(issue.fix, None).passed


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["{", "['", '["a" ', '{"a" '])
def test_a_hostile_text_is_given_up_in_time(opening: str) -> None:
    text = opening * (20_000 // len(opening))
    assert not check_json(text, None).passed
    assert seconds(lambda: check_json(text, None)) < 5


EVERYDAY = Path(__file__).with_name("everyday.md").read_bytes().decode()


def broken(text: str) -> list[Issue]:
    result = check_markdown(text)
    failing = [issue for issue in result.issues if issue.severity >= 3]
    assert result.passed == (not failing)
    for issue in result.issues:
        assert text[issue.start : issue.end].startswith(issue.quote)
    return failing


@pytest.mark.parametrize("text", ["", "plain", EVERYDAY, EVERYDAY.replace("\n", "\r\n")])
def test_everyday_markdown_passes(text: str) -> None:
    assert broken(text) == []


@pytest.mark.parametrize(
    ("text", "rule", "quote"),
    [
        ("# T\n\n### U\n", "heading_level", "### U"),
        ("T\n===\n\n#### U\n", "heading_level", "#### U"),
        ("##Heading\n", "heading_space", "##"),
        ("-one\n-two\n", "list_space", "-"),
        ("1.one\n2.two\n", "list_space", "1."),
        ("😀\n\n```py\nx = 1\n", "fence", "```py\nx = 1"),
        ("> ~~~\n> a\n\nb\n", "fence", "> ~~~\n> a"),
        ("````\n```\n", "fence", "````\n```"),
        ("😀 [a](http://x.y\n", "link", "[a](http://x.y"),
        ("see [docs] (http://x.y)\n", "link", "[docs] (http://x.y)"),
        ("see (docs)[http://x.y]\n", "link", "(docs)[http://x.y]"),
        ("see [docs]()\n", "link", "[docs]()"),
        ("see [docs][nowhere]\n", "reference", "[docs][nowhere]"),
        ("see [`docs` page][]\n", "reference", "[`docs` page][]"),
        ("a note[^1]\n", "reference", "[^1]"),
        ("a note[^b]\n\n[^a]: x\n", "reference", "[^b]"),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n", "table_columns", "| 1 | 2 | 3 |"),
        ("| a | b |\n|---|---|\n| 1 |\n", "table_columns", "| 1 |"),
        ("| a | b |\n|---|---|---|\n| 1 | 2 |\n", "table_columns", "|---|---|---|"),
        ("a|b\n-|-\n`x|y`|2\n", "table_columns", "`x|y`|2"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_broken_is_pointed_at(text: str, rule: str, quote: str, newline: str) -> None:
    first = broken(text.replace("\n", newline))[0]
    assert (first.rule, first.quote) == (rule, quote.replace("\n", newline))


@pytest.mark.parametrize(
    "text",
    [
        "```a\nb\n```\n",
        "[`a` b][]\n\n[`a` b]: http://x\n",
        '[a](http://x.y\n"title")\n',
        "\\[a\\](http://x.y\n",
        "## Starts deep\n\n### Goes on\n\n# Goes back\n",
    ],
)
def test_what_only_looks_broken_passes(text: str) -> None:
    assert broken(text) == []


def test_an_open_fence_gets_a_safe_fix_that_passes() -> None:
    for text in ("a\n\n```py\nx = 1\n", "a\r\n\r\n~~~~\r\nx", "```"):
        (issue,) = broken(text)
        assert issue.safe
        assert issue.fix is not None
        assert broken(text[: issue.start] + issue.fix + text[issue.end :]) == []


def test_fewer_broken_places_score_higher() -> None:
    scores = [check_markdown("see [a](http://x.y\n\n" * count).score for count in range(4)]
    assert scores == sorted(set(scores), reverse=True)


@settings(max_examples=150)
@given(st.text() | st.text(alphabet=st.sampled_from("ab#*-_`~>|[]()!:\\<^1. \n\r\t")))
def test_any_text_is_markdown_with_spans_that_hold(text: str) -> None:
    broken(text)


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


async def test_schemas_that_hold_for_ever_or_list_too_much_are_cut_short() -> None:
    assert len(violations({"items": {"type": "string"}}, list(range(1000)))) == VIOLATION_LIMIT
    spec = FormatValidator(format="json", schema={"$ref": "#"})
    result = await spec.validate(Thought(text="1"))
    assert "nested too deeply" in result.message


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


async def test_a_catastrophic_pattern_in_a_schema_ends_in_time() -> None:
    slow = {"type": "array", "items": {"pattern": "^(a|aa)+$"}}
    text = json.dumps(["a" * 40 + "!"] * 100)
    result = await FormatValidator(format="json", schema=slow).validate(Thought(text=text))
    assert "took too long" in result.message


@pytest.mark.parametrize("value", [date(2020, 1, 1), {"a", "b"}])
def test_a_schema_with_what_json_cannot_hold_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(ValueError, match="it holds what JSON cannot") as error:
        schema_json({"type": "object", "default": value})
    assert "\n" not in str(error.value)


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
        (" \n", "the text is empty", " "),
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
    result = check_yaml("\n".join(lines), {})
    assert "aliases add more than" in result.message


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text() | st.text(alphabet=st.sampled_from("a1:-?[]{}&*!|>'\"#% \n\t,<~.")))
def test_any_text_is_yaml_or_not_with_spans_that_hold(text: str) -> None:
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
