"""Clients made with the TypeScript SDKs, each of which works through a whole run."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.outcome import Outcome
from tests.conformance.programs import FOLDER, run

CLIENTS = (("sdk-v1", None), ("sdk-v2", None), ("sdk-v2", "2026-07-28"))
"""The script, and the protocol version it is to insist on."""


def drive(
    client: str, protocol: str | None, transport: str, server: Sequence[str], home: Path
) -> Outcome:
    """Improve a text by writing each version that the server asks for.

    Args:
        client: The script's name.
        protocol: The version to insist on; None for the handshake.
        transport: `stdio` or `http`.
        server: The URL of the server, or its command and arguments.
        home: Of the server that it starts.
    """
    more = {"MCP_PROTOCOL": protocol} if protocol else {}
    script = FOLDER / "clients" / f"{client}.mjs"
    finished = run(["node", script, transport, *server], home, more)
    name = f"TypeScript {client}, {protocol or 'handshake'} over {transport}"
    if finished.code != 0:
        return Outcome(
            name=name, passed=False, says=finished.last_words, details=finished.everything
        )
    told = json.loads(finished.out.splitlines()[-1])
    versions = told["versions"]
    return Outcome(name=name, passed=True, says=f"a whole run, {versions} versions by the briefs")
