"""MCP Inspector, which is what most authors of servers and hosts look at a server with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tests.conformance.outcome import Outcome
from tests.conformance.programs import Finished, run

Era = Literal["legacy", "modern"]
_PROGRAM = ("mcp-inspector", "--cli", "--format=json", "--quiet")
_CALLS: Sequence[tuple[str, Sequence[str]]] = (
    ("tools", ("--method", "tools/list", "--strict")),
    (
        "improve_text",
        (
            "--method=tools/call",
            "--tool-name=improve_text",
            '--tool-args-json={"text": "It is is clear.", "model": "editor"}',
        ),
    ),
    (
        "validate_text",
        (
            "--method=tools/call",
            "--tool-name=validate_text",
            '--tool-args-json={"text": "One", "validators": [{"type": "length", "min_words": 2}]}',
        ),
    ),
    ("resource", ("--method=resources/read", "--uri=catalogue://critics")),
    ("prompt", ("--prompt-args", "text=abc", "--method=prompts/get", "--prompt-name=refine")),
)


def inspect(transport: str, era: Era, server: Sequence[str], home: Path) -> Outcome:
    """List the tools strictly, call two, read a resource and get a prompt.

    Args:
        transport: What the line is to call it.
        era: Of the protocol.
        server: The URL of the server, or its command and arguments.
        home: Of the Inspector, and of the server that it starts.
    """
    name = f"MCP Inspector, {era} over {transport}"
    portability = 0
    for number, (what, options) in enumerate(_CALLS):
        finished = run([*_PROGRAM, "--protocol-era", era, *options, *server], home)
        wrong = f"exit code {finished.code}" if finished.code != 0 else _wrong(what, finished)
        if wrong:
            return Outcome(
                name=name,
                passed=False,
                says=f"{what}: {wrong}: {finished.last_words}",
                details=finished.everything,
            )
        if number == 0:
            portability = finished.error.count("Warning: tool ")
    return Outcome(
        name=name,
        passed=True,
        says=f"{len(_CALLS)} calls; strict about schemas: no error, {portability} notes",
    )


def _wrong(what: str, finished: Finished) -> str | None:
    result: dict[str, Any] = json.loads(finished.out)["result"]
    match what:
        case "tools":
            fine = len(result["tools"]) > 1
        case "improve_text":
            fine = result["structuredContent"]["text"] == "It is clear."
        case "validate_text":
            fine = result["structuredContent"]["passed"] is False
        case "resource":
            fine = "lint" in json.loads(result["contents"][0]["text"])
        case _:
            fine = "abc" in result["messages"][0]["content"]["text"]
    return None if fine else "another answer than was to be expected"
