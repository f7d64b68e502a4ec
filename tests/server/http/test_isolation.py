"""What one tenant asks for does not hold up another."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.attack.isolation import KINDS
from tests.stubs.sampling_client import error
from tests.stubs.served import asking, bearer, client_of, grant_token
from tests.stubs.servers import http_server

pytestmark = pytest.mark.anyio


async def post(url: str, token: str, tool: str, arguments: Mapping[str, Any]) -> httpx2.Response:
    question = asking("tools/call", name=tool, arguments=arguments)
    headers = question["headers"] | bearer(token)
    async with httpx2.AsyncClient(timeout=300) as http:
        return await http.post(url, json=question["json"], headers=headers)


@pytest.mark.slow
async def test_another_tenant_is_answered_before_expensive_requests_are(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    mallory, alice = grant_token(tokens, "mallory"), grant_token(tokens, "alice")
    pattern = {"type": "regex", "must_match": ["line"]}
    answered: list[httpx2.Response] = []
    with http_server(tmp_path, SIFAKA_AUTH_TOKENS_FILE=str(tokens)) as (url, _):
        async with client_of(url, alice) as client:
            for kind in ("schemas that double", "patterns that backtrack"):
                tool, arguments = KINDS[kind]

                async def fire(tool: str = tool, asked: Mapping[str, Any] = arguments) -> None:
                    answered.append(await post(url, mallory, tool, asked))

                async with anyio.create_task_group() as group:
                    for _ in range(8):
                        group.start_soon(fire)
                    for _ in range(5):
                        rules = {"text": "A line.", "validators": [pattern]}
                        answer = await client.call_tool("validate_text", rules)
                        assert answer.structured_content
                        assert answer.structured_content["passed"]
                    assert not answered, kind  # each of the eight takes minutes of processor time
                    group.cancel_scope.cancel()
            # A pattern that would take gigabytes is refused.
            tool, arguments = KINDS["patterns that repeat without end"]
            told = error(await client.call_tool(tool, dict(arguments)))
    assert "'a{1000000000}' repeats too much: 1000000000 parts, at most 10000" in told
