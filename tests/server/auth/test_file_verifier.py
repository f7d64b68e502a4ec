"""Tokens of a file, as the MCP SDK asks what they stand for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sifaka_mcp.auth.access import FileVerifier
from sifaka_mcp.auth.tokens_file import TokensFile
from tests.stubs.served import grant_token

pytestmark = pytest.mark.anyio
RESOURCE = "http://127.0.0.1:8000/mcp"


async def test_a_token_stands_for_its_tenant_and_goes_no_further_itself(tmp_path: Path) -> None:
    expires = datetime.now(UTC) + timedelta(days=1)
    file = tmp_path / "tokens"
    alice = grant_token(file, "alice", expires=expires, scopes=("sifaka:read",))
    verifier = FileVerifier(TokensFile(file), resource=RESOURCE, scopes=("wanted",))
    found = await verifier.verify_token(alice)
    assert found is not None
    assert (found.subject, found.client_id, found.resource) == ("alice", "alice", RESOURCE)
    assert found.scopes == ["sifaka:read", "wanted"]
    assert found.expires_at == int(expires.timestamp())
    assert found.claims is None, "of no issuer: the tenant has the name as it stands"
    assert alice not in repr(found)
    assert await verifier.verify_token("sfk_unknown") is None
