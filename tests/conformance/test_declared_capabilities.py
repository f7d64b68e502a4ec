"""What the server declares is what it does."""

from pathlib import Path

import pytest

from tests.stubs.servers import Era, connected

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_lists_that_never_change_are_not_said_to_be_told_of(era: Era, tmp_path: Path) -> None:
    async with connected("memory", era, tmp_path) as client:
        declared = client.server_capabilities
    assert declared is not None
    assert declared.tools
    assert declared.prompts
    assert declared.resources
    for capability in (declared.tools, declared.prompts, declared.resources):
        assert not capability.list_changed
