"""Which adapters a process has: what is allowed, and what is said about the rest."""

from pathlib import Path

import pytest

from sifaka._internal.masking import masked
from sifaka.errors import ConfigurationError
from sifaka.storage import MemoryStorage
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.sources import load_settings

WRONG = [
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


@pytest.mark.parametrize(("name", "value", "said"), WRONG)
def test_a_wrong_adapter_is_one_line_without_secrets(name: str, value: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings({f"SIFAKA_{name}": value})
    line = str(caught.value)
    assert line.startswith(f"SIFAKA_{name}: ")
    assert said in line
    assert "s3cret" not in line
    assert "\n" not in line


def test_a_key_that_cannot_be_sent_names_its_adapter() -> None:
    told = {
        "SIFAKA_ADAPTERS": "es=elasticsearch+http://host/isles",
        "SIFAKA_ADAPTER_KEYS": "es=one-key two-words",
    }
    with pytest.raises(ConfigurationError, match="the adapter 'es': the key is neither"):
        load_settings(told)


def test_there_is_no_adapter_unless_one_is_configured() -> None:
    assert not Settings().open_adapters(MemoryStorage())


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
