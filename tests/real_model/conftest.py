"""The model that all tests here ask, and a provider in front of it that keeps its answers."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from tests.real_model.engine import Served, model_in_use

KEPT = Path("build/real_model.jsonl")
LONGEST = 120
"""Tokens of an answer."""
_KEY = os.environ.get("MODEL_KEY", "none")
"""Read when the tests are collected: each of them runs without the keys of its surroundings."""


@pytest.fixture(scope="session")
def served() -> Generator[Served]:
    """The model of `MODEL_URL` and `MODEL`, or SmolLM2."""
    with model_in_use(os.environ.get("MODEL_URL", ""), os.environ.get("MODEL", "")) as found:
        yield found


@pytest.fixture
def model(served: Served) -> OpenAIChatModel:
    """The client that such a provider gets by its name; each test has one of its own."""
    settings = ModelSettings(max_tokens=LONGEST, seed=7)
    return OpenAIChatModel(
        served.model,
        provider=OpenAIProvider(base_url=served.url, api_key=_KEY),
        settings=settings,
    )
