"""What one tenant asks for does not hold up another."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp_types import TextContent

from tests.attack.isolation import KINDS
from tests.stubs.served import asking, bearer, client_of, grant_token
from tests.stubs.servers import http_server

pytestmark = pytest.mark.anyio


async def post(url: str, token: str, tool: str, arguments: Mapping[str, Any]) -> httpx2.Response:
    question = asking("tools/call", name=tool, arguments=arguments)
    headers = question["headers"] | bearer(token)
    async with httpx2.AsyncClient(timeout=300) as http:
        return await http.post(url, json=question["json"], headers=headers)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["schemas that double", "patterns that backtrack"])
async def test_another_tenant_is_answered_before_expensive_requests_are(
    kind: str, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    mallory, alice = grant_token(tokens, "mallory"), grant_token(tokens, "alice")
    with http_server(tmp_path, SIFAKA_AUTH_TOKENS_FILE=str(tokens)) as (url, _):
        async with client_of(url, alice) as client, anyio.create_task_group() as group:
            tool, arguments = KINDS[kind]
            answered: list[httpx2.Response] = []

            async def fire() -> None:
                answered.append(await post(url, mallory, tool, arguments))

            for _ in range(8):
                group.start_soon(fire)
            pattern = {"type": "regex", "must_match": ["line"]}
            for _ in range(5):
                answer = await client.call_tool(
                    "validate_text", {"text": "A line.", "validators": [pattern]}
                )
                assert answer.structured_content
                assert answer.structured_content["passed"]
            assert not answered  # each of the eight takes minutes of processor time
            group.cancel_scope.cancel()


@pytest.mark.slow
async def test_a_pattern_that_would_take_gigabytes_is_refused(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, _):
        async with client_of(url, None) as client:
            tool, arguments = KINDS["patterns that repeat without end"]
            answer = await client.call_tool(tool, dict(arguments))
    assert answer.is_error
    told = answer.content[0]
    assert isinstance(told, TextContent)
    assert "'a{1000000000}' repeats too much: 1000000000 parts, at most 10000" in told.text
