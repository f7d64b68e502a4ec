"""Settings, adapters among them: what is allowed, and what is said about the rest."""

import sys
from pathlib import Path

import pytest

from sifaka._internal.masking import masked
from sifaka.errors import ConfigurationError
from sifaka.storage import MemoryStorage
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.sources import ProjectFile, load_settings
from tests.stubs.static_models import needs_the_packaged_model

WRONG = [
    ("STORE", "foo", "allowed: memory:"),
    ("STORE", "mysql://localhost", "allowed: memory:"),
    ("STORE", "sqlite:///~/x.db", "sqlite:////absolute/path.db"),
    ("MODEL", "foo", "should be auto, editor, caller, host, or provider:name"),
    ("MODEL", "openai:", "provider:name"),
    ("MODEL", "openai:gpt 5", "provider:name"),
    ("JUDGE_MODEL", "zzz", "should be provider:name"),
    ("JUDGE_MODEL", "editor", "should be provider:name"),
    ("TENANT", "a b", "should be 1 to 64 letters, digits or characters of _ . @ -"),
    ("TENANT", "a\n", "should be 1 to 64"),
    ("TENANT", "x" * 65, "should be 1 to 64"),
    ("ALLOWED_HOSTS", "///", "should be host, host:port or host:*"),
    ("ALLOWED_HOSTS", "good.example,https://x.example", "'https://x.example' should be host"),
    ("ALLOWED_HOSTS", "x.example:99999", "should be host"),
    ("TOOLSETS", "cooking", "unknown toolset 'cooking'"),
    ("LOG_LEVEL", "LOUD", "DEBUG"),
    ("CORS_ORIGINS", "*", "'*' should be an origin such as https://app.example"),
    ("CORS_ORIGINS", "https://app.example/", "should be an origin"),
    ("PUBLIC_URL", "http://sifaka.example/mcp", "should be an https URL"),
    ("PUBLIC_URL", "https://me:pw@sifaka.example/mcp", "should be an https URL"),
    ("PUBLIC_URL", "https://sifaka.example:99999/mcp", "should be an https URL"),
    ("OAUTH_ISSUER", "issuer.example", "should be an https URL"),
    ("OAUTH_AUDIENCE", "sifaka", "set SIFAKA_OAUTH_ISSUER too"),
    ("OAUTH_SCOPES", "a", "set SIFAKA_OAUTH_ISSUER too"),
    ("TRUSTED_PROXIES", "10.0.0.1,proxy", "'proxy' should be an address or a network"),
    ("RATE_LIMIT", "100", "100/second"),
    ("RATE_LIMIT", "0/second", "100/second"),
    ("MAX_REQUESTS", "0", "at least 1"),
    ("MAX_BODY_BYTES", "12", "at least 1024"),
    ("ALLOW_ANONYMOUS", "maybe", "true or false"),
    ("ADAPTERS", "google:x", "unknown kind 'google'"),
    ("ADAPTERS", "wiki", "'wiki' names no source"),
    ("ADAPTERS", "wikipedia:en,wikipedia:sv", "two adapters are named 'wikipedia'"),
    ("ADAPTERS", "elasticsearch+http://host:9200", "names no index"),
    ("ADAPTERS", "elasticsearch+http://jo:s3cret@host/isles", "SIFAKA_ADAPTER_KEYS="),
    ("ADAPTERS", "elasticsearch+http://host/isles?api_key=s3cret", "SIFAKA_ADAPTER_KEYS"),
    ("ADAPTERS", "folder:", "the path of a folder"),
    ("ADAPTER_KEYS", "s3cret", "should be name=secret"),
    ("ADAPTER_KEYS", "wiki=", "should be name=secret"),
    ("ADAPTER_KEYS", "wiki=s3cret,wiki=s3cret2", "'wiki' has two keys"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), WRONG)
def test_a_wrong_value_is_one_line_that_names_it_once_and_says_what_is_allowed(
    name: str, value: str, allowed: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings({f"SIFAKA_{name}": value})
    said = str(caught.value)
    assert said.startswith(f"SIFAKA_{name}")
    assert allowed in said
    assert "\n" not in said
    assert f"{name.lower()}:" not in said, "named by its variable, not by the field as well"
    assert "pattern" not in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("store", "memory:"),
        ("store", "sqlite:///runs.db"),
        ("model", "caller"),
        ("model", "openai:gpt-5"),
        ("model", "ollama:llama3:8b"),
        ("judge_model", "openai-chat:stub"),
        ("tenant", "jo.doe@example-1_2"),
        ("public_url", "https://sifaka.example/mcp"),
        ("public_url", "http://127.0.0.1:8000/mcp"),
        ("cors_origins", ("https://app.example", "http://localhost:3000")),
        ("trusted_proxies", ("10.0.0.1", "10.0.0.0/8", "::1")),
        ("oauth_issuer", "https://issuer.example/realms/one"),
        ("rate_limit", "100/second"),
        ("allowed_hosts", ("localhost", "a-b.example:*", "10.0.0.1:8000", "[::1]:*", "x.example.")),
    ],
)
def test_what_is_allowed_is_taken_as_it_is(name: str, value: object) -> None:
    assert getattr(Settings.model_validate({name: value}), name) == value


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:s3cret@host/0",
        "mysql://:s3/cr3t@host/0?auth=s3cret",
        "mysql://host?api_key=s3cret&x=1",
        "memory:,mysql://:s3cret@host",
        "elasticsearch+http://host?api_key=s3cret&x=1",
        "redis://host/0?password=s3cret&x=1",
        "redis://:s3/cr3t@host",
        "milvus+http://host?token=s3cret&x=1",
        "redis+mcp:uvx redis-mcp-server --password s3cret 'x",
        "redis+mcp:uvx redis-mcp-server --url redis://:s3/cr3t@host 'x",
    ],
)
def test_a_wrong_store_is_named_once_and_without_its_secrets(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings({"SIFAKA_STORE": url})
    said = str(caught.value)
    assert "s3" not in said
    assert "cr3t" not in said
    assert said.partition(" — ")[0].count("host") <= 1
    told: BaseException | None = caught.value
    while told := told.__cause__:
        assert "s3" not in str(told).partition("input_value")[0]


def test_a_flag_and_a_file_are_named_as_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^--store: no store can be opened by 'foo'"):
        load_settings({"SIFAKA_STORE": "memory:"}, {"store": "foo"})
    project = ProjectFile(path=tmp_path / "sifaka.toml", settings={"judge_model": "zzz"})
    with pytest.raises(ConfigurationError, match=r"sifaka\.toml: judge_model='zzz': should be"):
        load_settings({}, project=project)


def test_an_embedding_model_is_named_with_its_kind() -> None:
    folder = "model2vec:/my models/small"
    assert load_settings({"SIFAKA_EMBEDDING_MODEL": folder}).embedding_model == folder
    name = "openai:text-embedding-3-small"
    assert load_settings({"SIFAKA_EMBEDDING_MODEL": name}).embedding_model == name
    assert load_settings({"SIFAKA_EMBEDDING_MODEL": "wordllama"}).embedding_model == "wordllama"
    assert load_settings({"SIFAKA_EMBEDDING_MODEL": "none"}).embedding_model is None
    with pytest.raises(ConfigurationError, match=r"SIFAKA_EMBEDDING_MODEL='ada': should be"):
        load_settings({"SIFAKA_EMBEDDING_MODEL": "ada"})


@needs_the_packaged_model
def test_without_a_setting_the_model_is_that_of_the_extra_where_it_is_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert load_settings({}).embedding_model == "wordllama"
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    assert load_settings({}).embedding_model is None


@pytest.mark.parametrize(
    "url",
    [
        "redis://:secret@host:6379/0?ttl=7d",
        "memory:,redis://host,milvus:///runs.db",
        "milvus+http://host:19530",
        "file:///runs",
        "redis+mcp:uvx redis-mcp-server --url redis://host",
    ],
)
def test_a_store_may_be_anywhere_and_is_not_touched_yet(url: str, tmp_path: Path) -> None:
    assert load_settings({"SIFAKA_STORE": url, "SIFAKA_HOME": str(tmp_path)}).store == url
    assert not list(tmp_path.iterdir())


def test_fallback_models_are_a_list_of_providers() -> None:
    settings = load_settings({"SIFAKA_FALLBACK_MODELS": "openai:gpt-5, anthropic:claude"})
    assert settings.fallback_models == ("openai:gpt-5", "anthropic:claude")
    with pytest.raises(ConfigurationError, match=r"SIFAKA_FALLBACK_MODELS='gpt': 'gpt' should be"):
        load_settings({"SIFAKA_FALLBACK_MODELS": "gpt"})


def test_a_key_that_cannot_be_sent_names_its_adapter() -> None:
    told = {
        "SIFAKA_ADAPTERS": "es=elasticsearch+http://host/isles",
        "SIFAKA_ADAPTER_KEYS": "es=one-key two-words",
    }
    with pytest.raises(ConfigurationError, match="the adapter 'es' has a wrong key: the"):
        load_settings(told)


def test_adapters_are_a_list_with_commas_and_touch_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    specs = f"wiki=wikipedia:en, folder:{folder},thoughts:"
    settings = load_settings({"SIFAKA_ADAPTERS": specs, "SIFAKA_HOME": str(tmp_path)})
    assert settings.open_adapters(MemoryStorage()).names == ("wiki", "folder", "thoughts")
    assert not list(tmp_path.iterdir())


def test_a_flag_wins_over_the_environment_and_is_named_when_it_is_wrong() -> None:
    told = {"SIFAKA_ADAPTERS": "wikipedia:en"}
    flag = load_settings(told, {"adapters": "folder:/x"}).open_adapters(MemoryStorage())
    assert flag.names == ("folder",)
    with pytest.raises(ConfigurationError, match=r"^--adapters: "):
        load_settings(told, {"adapters": "google:x"})


def test_keys_are_shown_nowhere() -> None:
    keys = "es=ApiKey very-secret-key==,wiki=jo:very-secret-word%2C1"
    told = {"SIFAKA_ADAPTERS": "es=elasticsearch+http://h/i", "SIFAKA_ADAPTER_KEYS": keys}
    settings = load_settings(told)
    assert settings.adapter_keys["es"].get_secret_value() == "ApiKey very-secret-key=="
    assert settings.adapter_keys["wiki"].get_secret_value() == "jo:very-secret-word,1"
    shown = [repr(settings), str(settings), settings.model_dump_json()]
    assert not any("very-secret" in each for each in shown)
    for secret in ("very-secret-key==", "jo:very-secret-word,1", "very-secret-word,1"):
        assert "very-secret" not in masked(f"it broke at {secret}, they said")


def test_a_password_in_the_url_of_an_adapter_is_masked_although_it_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        load_settings({"SIFAKA_ADAPTERS": "solr+http://jo:one-more-s3cret@host/core"})
    assert "one-more-s3cret" not in masked("the server said one-more-s3cret")
