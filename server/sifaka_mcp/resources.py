"""The resources: runs, versions, changes, catalogues."""

import json
from collections.abc import Mapping
from functools import partial

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic_core import to_json

from sifaka.chain import RunResult
from sifaka.critics import CRITICS
from sifaka.errors import ThoughtNotFound
from sifaka.models.prompt import frame
from sifaka.plugins import Plugins
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators import UNLISTED, VALIDATORS, ValidatorSpec, adapter_of
from sifaka_mcp.schemas.evidence import evidence_of
from sifaka_mcp.schemas.history import RunOut, ThoughtOut
from sifaka_mcp.state import AppState
from sifaka_mcp.tools.answer import plain
from sifaka_mcp.ui.apps import MIME_TYPE, RESOURCE, URI
from sifaka_mcp.ui.page_data import overview_of, version_of
from sifaka_mcp.ui.pages import page

ResourceContext = Context[AppState, object]


def add_resources(server: MCPServer[AppState], plugins: Plugins) -> None:
    """Register the resources."""
    as_json = partial(server.resource, mime_type="application/json")

    def store_of(ctx: ResourceContext) -> ThoughtStore:
        return ctx.request_context.lifespan_context.of_request().store

    @as_json(
        "run://{run_id}",
        title="A run",
        description="A run and all its versions, without their texts.",
    )
    async def run(run_id: str, ctx: ResourceContext) -> str:
        stored = await store_of(ctx).load(run_id)
        thoughts = [ThoughtOut.of(stored, t, include_text=False) for t in stored.thoughts]
        data = {
            "run": RunOut.of(stored).model_dump(mode="json"),
            "thoughts": [t.model_dump(mode="json", exclude_none=True) for t in thoughts],
        }
        return json.dumps(plain(data), ensure_ascii=False)

    @as_json(
        "thought://{thought_id}",
        title="A version",
        description="One version of a run, with its text and everything said about it.",
    )
    async def thought(thought_id: str, ctx: ResourceContext) -> str:
        version = await store_of(ctx).load_thought(thought_id)
        return json.dumps(plain(version.model_dump(mode="json")), ensure_ascii=False)

    @server.resource(
        "thought://{thought_id}/text",
        title="The text of a version",
        description="The text of one version of a run, and nothing else.",
        mime_type="text/plain",
    )
    async def text(thought_id: str, ctx: ResourceContext) -> str:
        return (await store_of(ctx).load_thought(thought_id)).text

    @server.resource(
        "run://{run_id}/diff",
        title="The changes of a run",
        description="What was changed between the input and the best version.",
        mime_type="text/plain",
    )
    async def changes(run_id: str, ctx: ResourceContext) -> str:
        return frame("changes", marked_changes(await store_of(ctx).load(run_id)))

    @as_json(
        "run://{run_id}/evidence",
        title="The evidence of a run",
        description="Every stored verdict on a claim with its quotes, and each source once.",
    )
    async def evidence(run_id: str, ctx: ResourceContext) -> str:
        stored = await store_of(ctx).load(run_id)
        return to_json(plain(await anyio.to_thread.run_sync(evidence_of, stored))).decode()

    @as_json(
        "run://{run_id}/view",
        title="The view of a run",
        description="What the page of a run shows, without texts.",
    )
    async def view(run_id: str, ctx: ResourceContext) -> str:
        stored = await ctx.request_context.lifespan_context.of_request().load(run_id)
        return to_json(await anyio.to_thread.run_sync(overview_of, stored)).decode()

    @as_json(
        "run://{run_id}/view/{place}",
        title="The view of a version",
        description="A version by its place in the run, from 0: text, changes, issues.",
    )
    async def view_of_version(run_id: str, place: str, ctx: ResourceContext) -> str:
        stored = await store_of(ctx).load(run_id)
        if not place.isdecimal() or int(place) >= len(stored.thoughts):
            raise ThoughtNotFound(f"{run_id}.{place}")
        return to_json(await anyio.to_thread.run_sync(version_of, stored, int(place))).decode()

    @server.resource(
        URI,
        title="The page of a run",
        description="Hosts show it for the tools that name it.",
        mime_type=MIME_TYPE,
        meta=dict(RESOURCE),
    )
    def app() -> str:
        return page("app").html

    @as_json(
        "catalogue://validators",
        title="Validators",
        description="Every validator and its options, as JSON schemas.",
    )
    def validators() -> str:
        schema = adapter_of(ValidatorSpec).json_schema()
        # What a chain gives them is no option.
        schema["others"] = {
            kind: adapter_of(VALIDATORS[kind]).json_schema(mode="serialization")
            for kind in sorted(UNLISTED)
        }
        offered = plugins.offered("validators", VALIDATORS)
        return json.dumps(schema | ({"plugins": _describe_packages(offered)} if offered else {}))

    @as_json(
        "catalogue://critics",
        title="Critics",
        description="Every critic and what it does.",
    )
    def critics() -> str:
        built_in = {name: (each.__doc__ or "").partition("\n")[0] for name, each in CRITICS.items()}
        return json.dumps(built_in | _describe_packages(plugins.offered("critics", CRITICS)))


def _describe_packages(offered: Mapping[str, str]) -> dict[str, str]:
    return {name: f"Of the package {package}." for name, package in offered.items()}


def marked_changes(run: Run) -> str:
    """The best text of a run with its changes marked: [-gone-]{+new+}."""
    result = RunResult(run=run)
    if not result.changed:
        return result.text
    marked = {
        "equal": "{after}",
        "insert": "{{+{after}+}}",
        "delete": "[-{before}-]",
        "replace": "[-{before}-]{{+{after}+}}",
    }
    return "".join(
        marked[hunk.op].format(before=hunk.before, after=hunk.after) for hunk in result.diff
    )
