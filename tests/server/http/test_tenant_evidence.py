"""The texts of one tenant are evidence for that tenant alone."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.stubs.calls import call
from tests.stubs.served import client_of, grant_token, served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio
CLAIM = "The lighthouse of Skär is 31 metres high."


async def found(client: Client) -> list[dict[str, Any]]:
    out = await call(client, "verify_evidence", claims=[CLAIM])
    (verdict,) = out["verdicts"]
    return verdict["evidence"]


async def test_past_texts_of_another_tenant_are_no_evidence(tmp_path: Path, era: Era) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch()
    configured: dict[str, Any] = {
        "toolsets": ("refine", "evidence"),
        "adapters": ("past=thoughts:",),
        "auth_tokens_file": tokens,
    }
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    with served(tmp_path, **configured) as url:
        async with (
            client_of(url, alice, era) as hers,
            client_of(url, bob, era) as his,
            client_of(url, reader, era) as reading,
        ):
            run = await call(hers, "improve_text", text=CLAIM)
            assert run["status"] == "done"
            with anyio.fail_after(20):
                assert [each["adapter"] for each in await found(hers)] == ["past"]
                assert [each["adapter"] for each in await found(reading)] == ["past"]
                assert await found(his) == []
