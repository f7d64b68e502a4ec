"""What all tests share."""

import os

import pytest

from tests.stubs.wiki import wiki_api as wiki_api

os.environ["PYDANTIC_AI_NO_BANNER"] = "1"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no setting or key of whoever runs them."""
    for name in list(os.environ):
        if name.startswith("SIFAKA_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
