"""Every name of the design documents is here, or answers with what to use instead."""

import re
from importlib import import_module
from typing import Any

import pytest

import sifaka
from sifaka import (
    Chain,
    ConfigurationError,
    InMemoryRetriever,
    ModelProviderError,
    RetrievalAugmentedModel,
    RunResult,
    Thought,
)
from sifaka._internal import renamed
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "design-documents.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `([\w.]+)` \| (.+) \|$", PAGE, re.MULTILINE))
HERE = {
    sifaka: """Chain create_pydantic_chain Thought ToolCall ValidationResult CriticFeedback
        LengthValidator RegexValidator ContentValidator FormatValidator ClassifierValidator
        GuardrailsValidator ReflexionCritic SelfRAGCritic ConstitutionalCritic MetaRewardingCritic
        SelfConsistencyCritic NCriticsCritic SelfRefineCritic PromptCritic MockRetriever
        InMemoryRetriever CachedRetriever RedisStorage MilvusStorage CachedStorage MemoryStorage
        FileStorage CachedCheckpointStorage RetrievalAugmentedModel SifakaError ModelProviderError
        ConfigurationError improve RetryConfig with_retry""",
    Thought: """next_iteration add_pre_generation_context add_post_generation_context
        add_validation_result add_critic_feedback add_tool_call model_dump_json save_to_file
        load_from_file to_dict from_dict retrieved_context generated_text""",
    Chain: """run run_with_recovery get_performance_summary get_performance_bottlenecks with_model
        with_prompt with_retriever validate_with improve_with""",
    RunResult: "text metadata iteration thought",
    ModelProviderError("", provider="openai"): """message suggestion provider error_code
        retry_after retryable""",
}
NAMES = [(owner, name) for owner, names in HERE.items() for name in names.split()]


@pytest.mark.parametrize(("owner", "name"), NAMES, ids=lambda given: str(given)[:30])
def test_a_name_that_stayed_is_here(owner: object, name: str) -> None:
    assert hasattr(owner, name)


def test_the_page_has_the_table() -> None:
    assert renamed.table() == ROWS


def use(name: str) -> None:
    """Do what a reader of the documents would."""
    owner, _, last = name.rpartition(".")
    options: dict[str, Any] = {last: True}
    if owner == "Thought":
        getattr(Thought(), last)
    elif owner == "RetrievalAugmentedModel":
        RetrievalAugmentedModel("test", InMemoryRetriever([]), **options)
    elif name == "Chain.with_options":
        getattr(Chain(), last)
    elif owner == "Chain":
        Chain(**options)
    else:
        import_module(name)


@pytest.mark.parametrize("name", ROWS)
def test_another_name_says_what_to_use(name: str) -> None:
    with pytest.raises((ImportError, AttributeError, ConfigurationError)) as caught:
        use(name)
    assert ROWS[name] in str(caught.value)
    for statement in re.findall(r"`(from .+?)`", ROWS[name]):
        exec(statement, {})  # noqa: S102 - our own document


@pytest.mark.parametrize("name", [name for name in ROWS if name.startswith("sifaka.")])
def test_an_import_from_its_package_says_so_too(name: str) -> None:
    owner, _, last = name.rpartition(".")
    with pytest.raises(ImportError) as caught:
        exec(f"from {owner} import {last}", {})  # noqa: S102 - our own document
    assert ROWS[name] in str(caught.value)
