"""Header fields, as another program may write them."""

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.stubs.served import served

REQUEST: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "validate_text",
        "arguments": {"text": "One", "validators": [{"type": "length", "max_words": 1}]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


@pytest.mark.parametrize("name", ["validate_text", " \tvalidate_text \t"])
def test_whitespace_around_a_value_is_no_part_of_it(name: str, tmp_path: Path) -> None:
    body = json.dumps(REQUEST)
    with served(tmp_path) as url:
        place = urlsplit(url)
        fields = {
            "Host": place.netloc,
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
            "Connection": "close",
        }
        head = "".join(f"{field}:{value}\r\n" for field, value in fields.items())
        with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
            connection.sendall(f"POST {place.path} HTTP/1.1\r\n{head}\r\n{body}".encode())
            with connection.makefile("rb") as answer:
                assert answer.readline().split()[1] == b"200"
                assert b'"passed":true' in answer.read()


def test_a_field_behind_the_body_says_nothing_about_the_request(tmp_path: Path) -> None:
    body = json.dumps(REQUEST)
    with served(tmp_path) as url:
        place = urlsplit(url)
        head = (
            f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
            "Transfer-Encoding: chunked\r\n"
        )
        answers: list[bytes] = []
        named = "Mcp-Name: validate_text\r\n"
        for before, behind in ((named, ""), ("", named)):
            chunks = f"{len(body):x}\r\n{body}\r\n0\r\n{behind}\r\n"
            with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
                connection.sendall(f"{head}{before}\r\n{chunks}".encode())
                with connection.makefile("rb") as answer:
                    answers.append(answer.readline().split()[1])
    assert answers == [b"200", b"400"]
