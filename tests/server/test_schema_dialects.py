"""The tools' schemas in the dialects of hosts: strict mode of OpenAI, and Gemini."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from openai.lib import _pydantic as openai_schemas
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

from benchmarks.tool_tokens import SHOWN
from sifaka.critics import CRITICS
from sifaka.validators import UNLISTED, VALIDATORS
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.tools import listed_tools

pytestmark = pytest.mark.anyio

ALL = sorted({name for names in TOOLSETS.values() for name in names})
MOST_TOKENS = 2_400
CHARACTERS_PER_TOKEN = 4
"""An estimate that errs upwards: the vocabularies o200k_base and cl100k_base need fewer tokens."""
SCHEMAS: Mapping[str, dict[str, Any]] = {tool.name: tool.input_schema for tool in listed_tools(ALL)}
FILLED_IN: Mapping[str, Any] = {
    "type": "length", "min_words": 1, "max_words": 9, "must_match": [], "required": [],
    "prohibited": [], "schema": "", "max_grade": 0, "names": False, "expected": "", "allowed": [],
    "threshold": 0,
}  # fmt: skip
"""All options but those that have to be one of several words."""


def copied(name: str) -> dict[str, Any]:
    return json.loads(json.dumps(SCHEMAS[name]))


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object inside a schema."""
    if isinstance(schema, list):
        for each in cast("list[Any]", schema):
            yield from objects(each)
    elif isinstance(schema, dict):
        node = cast("dict[str, Any]", schema)
        if "properties" in node and isinstance(node["properties"], dict):
            yield node
        for value in node.values():
            yield from objects(value)


def names(schema: Mapping[str, Any]) -> set[str]:
    """The names of all options, at every depth."""
    return {name for each in objects(schema) for name in each["properties"]}


def check_strict(strict: dict[str, Any], name: str) -> None:
    """https://platform.openai.com/docs/guides/structured-outputs: supported schemas."""
    assert names(strict) == names(SCHEMAS[name]), "nothing is lost"
    for each in objects(strict):
        assert each["type"] == "object"
        assert each["additionalProperties"] is False
        assert set(each["required"]) == set(each["properties"])
        assert each["properties"], "a free object would be closed, and nothing could be said in it"
    text = json.dumps(strict)
    for unsupported in ("oneOf", "allOf", "patternProperties", "prefixItems", '"items": {}'):
        assert unsupported not in text
    Draft202012Validator.check_schema(strict)


@pytest.mark.parametrize("name", ALL)
def test_openai_s_own_converter_makes_a_strict_schema(name: str) -> None:
    convert = openai_schemas._ensure_strict_json_schema  # pyright: ignore[reportPrivateUsage]
    schema = copied(name)
    check_strict(convert(schema, path=(), root=schema), name)


@pytest.mark.parametrize("name", ALL)
def test_pydantic_ai_makes_a_strict_schema_for_openai(name: str) -> None:
    check_strict(OpenAIJsonSchemaTransformer(copied(name), strict=True).walk(), name)


@pytest.mark.parametrize("name", ALL)
def test_pydantic_ai_makes_a_schema_for_gemini_and_nothing_is_lost(name: str) -> None:
    converted = GoogleJsonSchemaTransformer(copied(name), strict=None).walk()
    assert names(converted) == names(SCHEMAS[name])
    check_gemini(converted)


@pytest.mark.parametrize("name", ALL)
def test_google_s_own_converter_takes_the_schema(name: str) -> None:
    from google.genai import types  # takes long to import, in each process that collects tests

    given = types.JSONSchema.model_validate(SCHEMAS[name])
    made = types.Schema.from_json_schema(json_schema=given, raise_error_on_unsupported_field=True)
    found = made.model_dump(mode="json", exclude_none=True)
    assert names(found) == names(SCHEMAS[name])


def check_gemini(schema: dict[str, Any]) -> None:
    """https://ai.google.dev/api/caching#Schema: each schema has one type; no unions of objects."""
    text = json.dumps(schema)
    for unsupported in ("$ref", "$defs", "oneOf", "allOf", "anyOf", "const"):
        assert f'"{unsupported}"' not in text
    for each in objects(schema):
        for option in each["properties"].values():
            assert isinstance(option.get("type"), str)
            assert option["type"] != "array" or isinstance(option["items"].get("type", ""), str)


@pytest.mark.parametrize("name", ALL)
def test_every_parameter_is_described(name: str) -> None:
    options: dict[str, dict[str, Any]] = SCHEMAS[name]["properties"]
    assert [option for option, told in options.items() if not told.get("description")] == []


async def test_the_default_tools_stay_within_their_tokens(client: Client) -> None:
    listed = (await client.list_tools()).tools
    told = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
    shown = [{key: tool[key] for key in SHOWN} for tool in told]
    characters = sum(len(json.dumps(tool, separators=(",", ":"))) for tool in shown)
    assert characters / CHARACTERS_PER_TOKEN <= MOST_TOKENS


def test_the_listed_kinds_are_those_of_the_catalogues() -> None:
    options = SCHEMAS["improve_text"]["properties"]
    rules = options["validators"]["items"]["properties"]
    assert set(rules["type"]["enum"]) == set(VALIDATORS) - UNLISTED - {"guardrails"}
    judges = options["critics"]["items"]["properties"]
    assert set(judges["type"]["enum"]) == set(CRITICS) - {"evidence"}
    for name in judges.keys() - {"type"}:
        assert any(name in critic.model_fields for critic in CRITICS.values())


async def test_what_strict_mode_fills_in_is_as_if_left_out(tmp_path: Path) -> None:
    critic: dict[str, Any] = {"type": "lint", "rubric": "", "principles": [], "roles": [], "n": 0}
    async with Client(SifakaServer(Settings(home=tmp_path))) as client:
        calls: list[dict[str, Any]] = [
            {"validators": [FILLED_IN]},
            {"validators": [{**FILLED_IN, "min_words": None, "names": None}]},
            {"validators": [], "critics": [critic], "budget": None},
        ]
        for arguments in calls:
            result = await client.call_tool("improve_text", {"text": "A text.", **arguments})
            assert not result.is_error, result.content


async def test_a_json_schema_may_be_given_as_an_object_or_as_json(client: Client) -> None:
    schema = {"type": "array"}
    for given in (schema, json.dumps(schema)):
        rule = {"type": "format", "format": "json", "schema": given}
        result = await client.call_tool("validate_text", {"text": "{}", "validators": [rule]})
        assert result.structured_content is not None
        assert not result.structured_content["passed"]
