"""What all tests share."""

import gc
import os
import signal
from collections.abc import Generator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.stubs.wiki import wiki_api as wiki_api

os.environ["PYDANTIC_AI_NO_BANNER"] = "1"
# Shells have commands in the background ignore it, and so would the programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, nor ever among what that has made."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        # Tests import and leave behind more than a program: a tenth of their time was spent on it.
        gc.set_threshold(5_000, 10, 100)


@pytest.fixture(autouse=True, scope="session")
def schemas_checked_once() -> Generator[None]:
    """A valid schema stays so: each client of the SDK checks those of the tools it calls."""
    check = Draft202012Validator.check_schema
    valid = set[str]()

    def check_once(schema: Any, *more: Any) -> None:
        if (key := repr((schema, *more))) not in valid:
            check(schema, *more)
            valid.add(key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft202012Validator, "check_schema", staticmethod(check_once))
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no setting or key of whoever runs them."""
    for name in list(os.environ):
        if name.startswith("SIFAKA_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
