"""What a raw line on stdio is answered with."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stubs.servers import environment

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "sifaka_mcp"],
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            answer(process, json.dumps(HELLO))
            yield process
        finally:
            process.kill()


def answer(process: subprocess.Popen[str], line: str) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_half_of_a_surrogate_pair_is_refused_under_the_id_of_its_request(
    server: subprocess.Popen[str],
) -> None:
    call: dict[str, Any] = {"name": "improve_text", "arguments": {"text": "a\ud800b"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call})
    refused = answer(server, line)
    assert (refused["id"], refused["error"]["code"]) == (7, -32700)
    assert "\n" not in refused["error"]["message"]
    listing: dict[str, Any] = {"name": "get_thought_history", "arguments": {}}
    line = json.dumps({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": listing})
    assert answer(server, line)["result"]["structuredContent"]["runs"] == []


def test_garbage_is_answered_and_the_next_line_is_served(server: subprocess.Popen[str]) -> None:
    assert answer(server, "garbage")["error"]["code"] == -32700
    line = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
    assert len(answer(server, line)["result"]["tools"]) == 7


def test_a_message_nested_too_deeply_is_refused_and_the_next_is_answered(
    server: subprocess.Popen[str],
) -> None:
    nested = "[" * 5_000 + "]" * 5_000
    refused = answer(
        server,
        '{"jsonrpc": "2.0", "id": "a\\"b", "method": "tools/call", "params": '
        f'{{"name": "validate_text", "arguments": {{"text": "a", "validators": {nested}}}}}}}',
    )
    assert (refused["id"], refused["error"]["code"]) == ('a"b', -32700)
    refused = answer(server, f'{{"params": {nested}, "id": 8}}')
    assert refused["error"]["code"] == -32700
    assert answer(server, '{"jsonrpc": "2.0", "id": 9, "method": "ping"}')["id"] == 9


def test_a_byte_order_mark_before_a_message_is_no_part_of_it(
    server: subprocess.Popen[str],
) -> None:
    ping = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping"})
    assert answer(server, f"\ufeff{ping}") == {"jsonrpc": "2.0", "id": 9, "result": {}}
    refused = answer(server, "\ufeffnonsense")
    assert refused["error"]["code"] == -32700


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_batch_is_answered_with_what_to_do(server: subprocess.Popen[str], mark: str) -> None:
    ping = {"jsonrpc": "2.0", "id": 9, "method": "ping"}
    refused = answer(server, mark + json.dumps([ping, ping]))
    assert refused["error"]["code"] == -32600
    assert "send each one by itself" in refused["error"]["message"]
