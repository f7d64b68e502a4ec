"""The names that can be imported from `sifaka`, what that costs, and how extras are installed."""

import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

import sifaka
from sifaka import errors
from sifaka.errors import ConfigurationError
from sifaka.extras import install, installed, require

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


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where uv keeps the environments of `uvx`."""
    place = tmp_path / "uv" / "archive-v0" / "x1"
    place.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(place))
    monkeypatch.setattr(sys, "argv", [str(place / "bin" / "sifaka-mcp")])
    return place


@pytest.fixture(params=["index", "folder", "repository", "wheel"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where this package was installed from, as it is named with `[]` for the extras."""
    told, named = {
        "index": (None, "sifaka-mcp[]"),
        "folder": ('{"url": "file:///a%20b/c", "dir_info": {"editable": true}}', "/a b/c[]"),
        "repository": (
            '{"url": "https://host/x", "vcs_info": {"vcs": "git"}}',
            "sifaka-mcp[] @ git+https://host/x",
        ),
        "wheel": ('{"url": "file:///x.whl", "archive_info": {}}', "sifaka-mcp[] @ file:///x.whl"),
    }[request.param]

    def read_text(_: PathDistribution, name: str) -> str | None:
        return told if name == "direct_url.json" else None

    monkeypatch.setattr(PathDistribution, "read_text", read_text)
    return named


def test_it_is_of_pip_where_pip_can_be_used(source: str) -> None:
    pip = f"{sys.executable} -m pip install -e" if source[0] == "/" else "pip install"
    assert install("redis") == f"{pip} '{source}'".replace("[]", "[redis]")
    assert install("a", "b", beside="c d") == f"{pip} '{source}' c d".replace("[]", "[a,b]")


def test_an_environment_of_uvx_is_made_anew(prefix: Path, source: str) -> None:
    assert install("http") == f"uvx --from '{source}' sifaka-mcp".replace("[]", "[http]")
    told = f"uvx --from '{source}' --with b sifaka-mcp".replace("[]", "[a]")
    assert install("a", beside="b") == told


def test_a_tool_of_uv_is_installed_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    (tmp_path / "uv-receipt.toml").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    told = f"uv tool install '{source}' --with x".replace("[]", "[http]")
    assert install("http", beside="x") == told


def test_what_lacks_its_package_is_refused_with_the_command() -> None:
    assert installed("json", "anyio")
    require("this", "none", "json")
    with pytest.raises(ConfigurationError) as caught:
        require("this", "more", "json", "no_such_package")
    assert caught.value.message == "this needs the extra `more`"
    assert caught.value.suggestion == install("more")
