"""The prompts: `tests/snapshots/prompts.md` against what is sent, and each against the rules."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache

import pytest

import sifaka
from benchmarks import prompt_prefix, tool_tokens
from sifaka.models.prompt import DATA_NOTICE, Prompt
from sifaka.research.agents import ResearchAgent
from tests.snapshots.prompts import CHARACTERS_PER_TOKEN, PAGE, Sent, put_into, recorded

MOST = 350
"""Tokens of the instructions."""


@cache
def prompts() -> dict[str, tuple[Prompt, Sent]]:
    return recorded()


def in_the_code() -> Iterator[Prompt]:
    """Every prompt that a module of the library holds."""
    for found in pkgutil.walk_packages(sifaka.__path__, "sifaka."):
        if ".storage." in found.name:  # they want clients of databases
            continue
        for value in vars(importlib.import_module(found.name)).values():
            if isinstance(value, ResearchAgent):
                yield value.prompt
            elif isinstance(value, Prompt):
                yield value


def test_the_page_shows_what_is_sent() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == put_into(page), "run `make snapshots` when the change is meant"


def test_every_prompt_of_the_code_is_on_the_page() -> None:
    shown = [prompt.text for prompt, _ in prompts().values()]
    assert {prompt.text for prompt in in_the_code()} == set(shown)


def test_the_instructions_are_short_and_plain() -> None:
    assert CHARACTERS_PER_TOKEN == tool_tokens.CHARACTERS_PER_TOKEN
    for name, (prompt, sent) in prompts().items():
        assert sent.tokens <= MOST, name
        assert sent.instructions.endswith(DATA_NOTICE), name
        vague = re.search(r"\b(somebody|nobody|whoever|anybody|whether)\b", sent.instructions)
        assert not vague, name
        for rule in prompt.rules:
            sentences = re.split(r"(?<=[.?!]) ", rule)
            assert all(len(sentence.split()) <= 35 for sentence in sentences), rule


def test_the_standard_and_the_original_come_before_the_version() -> None:
    stable = ("task", "document", "documents", "original", "aspects", "rubric", "schema", "role")
    for name, (_, sent) in prompts().items():
        order = re.findall(r"^<([a-z ]+) id=", sent.question, re.MULTILINE)
        versions = [at for at, label in enumerate(order) if label in {"text", "first", "second"}]
        if versions:
            assert all(at < versions[0] for at, label in enumerate(order) if label in stable), name
            assert not sent.question.endswith(">"), "the question comes last"


@pytest.mark.slow
def test_half_of_a_prompt_is_that_of_the_version_before() -> None:
    shares = [figure for figure in prompt_prefix.measure().figures if figure.unit == "%"]
    assert len(shares) == 3
    assert all(figure.value > 50 for figure in shares)
