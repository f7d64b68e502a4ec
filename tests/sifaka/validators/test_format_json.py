import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.format import FormatValidator
from sifaka.validators.format.json_text import check_json, locate, repaired
from tests.stubs.cost import seconds

pytestmark = pytest.mark.anyio

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
