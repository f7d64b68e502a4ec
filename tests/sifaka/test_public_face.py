"""The names that can be imported from `sifaka`, and what importing it costs."""

import subprocess
import sys

import pytest

import sifaka
from sifaka import errors

FIXED = [
    "improve", "improve_sync", "validate", "critique", "verify", "Chain", "open_store",
    "create_pydantic_chain", "Thought", "ThoughtReference", "ToolCall", "Document",
    "ValidationResult", "CriticFeedback", "Issue", "Budget", "ChainEvent", "RunResult",
    "LengthValidator", "RegexValidator", "ContentValidator", "FormatValidator",
    "ClassifierValidator", "GuardrailsValidator", "ReflexionCritic", "SelfRAGCritic",
    "ConstitutionalCritic", "MetaRewardingCritic", "SelfConsistencyCritic", "NCriticsCritic",
    "SelfRefineCritic", "PromptCritic", "MockRetriever", "InMemoryRetriever", "CachedRetriever",
    "MemoryStorage", "FileStorage", "SQLiteStorage", "RedisStorage", "MilvusStorage",
    "CachedStorage", "CachedCheckpointStorage", "Validator", "Critic", "Retriever", "Model",
    "ThoughtStore", "Judge", "Host", "Embedder", "Adapter", "Researcher",
]  # fmt: skip
"""Names that others rely on."""


def test_every_public_name_can_be_imported_and_is_listed() -> None:
    assert dir(sifaka) == sorted(sifaka.__all__)
    for name in sifaka.__all__:
        assert getattr(sifaka, name).__name__ == name
    assert set(FIXED) <= set(sifaka.__all__)


def test_every_error_is_public() -> None:
    found = [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.SifakaError)
    ]
    assert {each.__name__ for each in found} <= set(sifaka.__all__)
    assert all(getattr(sifaka, each.__name__) is each for each in found)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'sifaka' has no attribute 'Chian'"):
        _ = sifaka.Chian  # pyright: ignore[reportAttributeAccessIssue] - that is the test
    with pytest.raises(ImportError):
        exec("from sifaka import improove")  # noqa: S102 - a literal


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = "import sifaka, sys; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pydantic", "pydantic_ai", "anyio", "apsw", "mcp", "yaml", "numpy"}


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pydantic_ai", "mcp", "starlette", "harper_py", "numpy"])
def test_using_the_tasks_loads_neither_providers_nor_protocols(module: str) -> None:
    program = (
        f"import sys; from sifaka import improve, validate, Chain; print({module!r} in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.strip() == "False"
