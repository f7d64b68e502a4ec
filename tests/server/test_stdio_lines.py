"""What a raw line on stdio is answered with."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stubs.commands import started
from tests.stubs.servers import HELLO, heard, tell


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with started(tmp_path, program="sifaka_mcp") as process:
        tell(process, HELLO)
        heard(process)
        yield process
        process.kill()


def answer(process: subprocess.Popen[bytes], line: str) -> dict[str, Any]:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()
    return heard(process)


def called(number: int, tool: str, **arguments: Any) -> str:
    """A line that calls a tool."""
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}


def test_lines_that_are_no_messages_are_refused(server: subprocess.Popen[bytes]) -> None:
    # Half of a surrogate pair, under the id of its request.
    refused = answer(server, called(7, "improve_text", text="a\ud800b"))
    assert (refused["id"], refused["error"]["code"]) == (7, -32700)
    assert "\n" not in refused["error"]["message"]
    found = answer(server, called(8, "get_thought_history"))
    assert found["result"]["structuredContent"]["runs"] == []
    assert answer(server, "garbage")["error"]["code"] == -32700
    # Nested too deeply.
    nested = "[" * 5_000 + "]" * 5_000
    refused = answer(
        server,
        '{"jsonrpc": "2.0", "id": "a\\"b", "method": "tools/call", "params": '
        f'{{"name": "validate_text", "arguments": {{"text": "a", "validators": {nested}}}}}}}',
    )
    assert (refused["id"], refused["error"]["code"]) == ('a"b', -32700)
    assert answer(server, f'{{"params": {nested}, "id": 8}}')["error"]["code"] == -32700
    assert answer(server, json.dumps(PING)) == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_a_byte_order_mark_is_no_part_of_a_message_and_a_batch_is_told_what_to_do(
    server: subprocess.Popen[bytes],
) -> None:
    assert answer(server, f"\ufeff{json.dumps(PING)}")["result"] == {}
    assert answer(server, "\ufeffnonsense")["error"]["code"] == -32700
    for mark in ("", "\ufeff"):
        refused = answer(server, mark + json.dumps([PING, PING]))
        assert refused["error"]["code"] == -32600
        assert "send each one by itself" in refused["error"]["message"]
