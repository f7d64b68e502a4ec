"""`docs/tools.md` against the live server: it leaves nothing out and invents nothing."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp import Client
from mcp_types import TextContent, Tool
from pydantic import TypeAdapter

from sifaka.critics import CRITICS
from sifaka.record.claims import ClaimStatus
from sifaka.validators import UNLISTED, VALIDATORS, ValidatorSpec, adapter_of
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.schemas.evidence import EvidenceSearchOut, VerifyOut
from sifaka_mcp.schemas.history import HistoryOut
from sifaka_mcp.schemas.runs import ResearchOut, SubmitOut
from sifaka_mcp.schemas.verdicts import CritiqueTextOut, ValidateOut
from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.tools import tools as tools_named
from sifaka_mcp.ui.apps import CHOICE
from tests.docs.markdown import code, section, table
from tests.snapshots.write import with_schemas

pytestmark = pytest.mark.anyio

DOCUMENT = "docs/tools.md"
SHAPES = {
    "verdict": "ValidationOut",
    "issue": "IssueOut",
    "change": "HunkOut",
    "usage": "UsageOut",
    "brief": "BriefOut",
    "difference": "DifferenceOut",
    "critique": "CritiqueOut",
    "run": "RunOut",
    "version": "ThoughtOut",
    "line": "RunLine",
    "hit": "HitOut",
    "findings": "ResearchedOut",
    "section": "SectionOut",
    "reference": "ReferenceOut",
    "criterion": "CriterionOut",
    "document": "FoundOut",
    "judgement": "JudgementOut",
    "claim": "ClaimOut",
    "evidence": "EvidenceOut",
}
"""What the document calls the shapes, and what the schemas do."""
LIKE_IMPROVE = {"resume_run", "cancel_run"}
"""Tools whose result is that of `improve_text`."""
OPTIONS_OF_THEIR_OWN = {"content": {"required"}, "classifier": {"name"}}
"""Options that mean something else than in all other validators, so they are told."""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[Client]:
    """A client of a server that offers every tool."""
    server = SifakaServer(Settings(home=tmp_path, toolsets=tuple(TOOLSETS)))
    async with Client(server) as client:
        yield client


async def tools(client: Client) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


def rows(heading: str, first: str) -> dict[str, list[str]]:
    """The rows of the table under a heading whose first column is called so, by their name."""
    text = section(DOCUMENT, heading)
    found = table(text[text.index(f"| {first} ") :])
    told = [(name, row[1:]) for row in found for name in code(row[0])]
    assert len(dict(told)) == len(told), "each is told once"
    return dict(told)


async def test_every_tool_is_listed_with_its_annotations(client: Client) -> None:
    live = await tools(client)
    told = {code(row[0])[0]: row[1:] for row in table(section(DOCUMENT, "Tools"))}
    assert list(told) == list(live)
    offered = {code(row[0])[0]: code(row[1]) for row in table(section(DOCUMENT, "Toolsets"))}
    assert offered == {name: list(names) for name, names in TOOLSETS.items()}
    for name, tool in live.items():
        hints = tool.annotations
        assert hints is not None
        answers = (hints.read_only_hint, hints.idempotent_hint, hints.open_world_hint)
        assert told[name] == ["yes" if answer else "no" for answer in answers], name


async def test_every_argument_is_told_with_its_default(client: Client) -> None:
    by_pages = with_schemas(*tools_named({CHOICE}))
    for name, tool in {**await tools(client), CHOICE: by_pages}.items():
        schema = tool.input_schema
        told = rows(name, "Argument")
        assert list(told) == [*schema["properties"]], name
        for argument, (default, _) in told.items():
            assert default == _default(schema, argument), f"{name}.{argument}"


async def test_a_default_that_is_empty_is_told_nowhere_and_means_left_out(client: Client) -> None:
    for name, tool in (await tools(client)).items():
        for argument, field in tool.input_schema["properties"].items():
            assert field.get("default") not in ("", [], False), f"{name}.{argument}"
    listed = await client.call_tool("get_thought_history", {"run_id": None, "query": None})
    assert not listed.is_error
    assert (
        listed.structured_content
        == (
            await client.call_tool("get_thought_history", {"run_id": "", "query": ""})
        ).structured_content
    )


async def test_every_field_of_an_answer_is_told(client: Client) -> None:
    live = await tools(client)
    same_as_improve = set(rows("improve_text", "Result"))
    for name, tool in live.items():
        assert tool.output_schema is not None
        told: set[str] = set() if name in LIKE_IMPROVE else set(rows(name, "Result"))
        if name in {"submit_revision", "research", *LIKE_IMPROVE}:
            told |= same_as_improve
        assert told == set(tool.output_schema["properties"]), name


def test_every_shape_in_an_answer_is_told() -> None:
    shapes: dict[str, Any] = {}
    for answer in (
        SubmitOut,
        ValidateOut,
        CritiqueTextOut,
        HistoryOut,
        VerifyOut,
        EvidenceSearchOut,
        ResearchOut,
    ):
        shapes |= answer.model_json_schema()["$defs"]
    for heading, definition in SHAPES.items():
        assert list(rows(heading, "Field")) == [*shapes[definition]["properties"]], heading
    within = {"FailureOut": ("brief", "Field", "failures")}
    within["AskedOut"] = ("improve_text", "Result", "asked")
    within["CheckOut"] = ("improve_text", "Result", "checked")
    within["TurnedDownOut"] = ("improve_text", "Result", "turned_down")
    assert set(shapes) - set(SHAPES.values()) == set(within), "told where they stand"
    for definition, (heading, first, field) in within.items():
        (told,) = rows(heading, first)[field]
        assert all(name in told for name in shapes[definition]["properties"])
    (told,) = rows("verify_evidence", "Result")["counts"]
    assert all(status in told for status in get_args(ClaimStatus))


def test_every_validator_is_told_with_its_options() -> None:
    definitions = adapter_of(ValidatorSpec).json_schema()["$defs"].values()
    specs = [each["properties"] for each in definitions if "type" in each["properties"]]
    listed = {each["type"]["const"]: each for each in specs}
    assert set(listed) == set(VALIDATORS) - UNLISTED, "what the catalogue has for every host"
    for kind in UNLISTED:
        shown = TypeAdapter(VALIDATORS[kind]).json_schema(mode="serialization")
        listed[kind] = shown["properties"]
    told = rows("Validators", "Type")
    assert list(told) == list(VALIDATORS)
    for kind, (options, _) in told.items():
        unlisted = {"type", "name", "required"} - OPTIONS_OF_THEIR_OWN.get(kind, set())
        assert set(code(options)) == set(listed[kind]) - unlisted, kind


def test_every_critic_is_told_with_its_options() -> None:
    told = rows("Critics", "Type")
    assert list(told) == list(CRITICS)
    for kind, (options, _) in told.items():
        fields = CRITICS[kind].model_fields.items()
        given_by_chain = {"checker", "rules"}
        named = {f.alias or name for name, f in fields} - {"type", *given_by_chain}
        assert set(code(options)) == named, kind


async def test_every_error_is_answered_as_told(client: Client) -> None:
    for call, expected in table(section(DOCUMENT, "Errors")):
        tool, _, arguments = code(call)[0].partition(" ")
        result = await client.call_tool(tool, json.loads(arguments))
        assert result.is_error, call
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert code(expected)[0] in content.text, call
        assert "\n" not in content.text, call
    recent = await client.call_tool("get_thought_history", {})
    assert recent.structured_content is not None
    assert recent.structured_content["runs"] == [], "an error stores nothing"


async def test_every_resource_and_prompt_is_told(client: Client) -> None:
    addresses = {str(found.uri) for found in (await client.list_resources()).resources}
    templates = (await client.list_resource_templates()).resource_templates
    addresses |= {found.uri_template for found in templates}
    assert set(rows("Resources and prompts", "Address")) == addresses
    prompts = (await client.list_prompts()).prompts
    told = rows("Resources and prompts", "Prompt")
    assert {name: code(arguments) for name, (arguments, _) in told.items()} == {
        prompt.name: [argument.name for argument in prompt.arguments or []] for prompt in prompts
    }


def _default(schema: dict[str, Any], argument: str) -> str:
    if argument in schema.get("required", []):
        return "required"
    default = schema["properties"][argument].get("default")
    return "" if default is None else f"`{json.dumps(default)}`"
