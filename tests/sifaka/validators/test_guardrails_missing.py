"""An environment without Guardrails; `tests/guardrails` has the rest."""

from importlib.util import find_spec

import pytest

from sifaka.errors import ConfigurationError
from sifaka.validators import parse_validators


def wrong(*validators: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_validators([{"type": "guardrails", "validators": list(validators)}])
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.skipif(find_spec("guardrails") is not None, reason="Guardrails is installed")
@pytest.mark.parametrize(
    "name",
    ["regex-match", "regex_match", "guardrails/regex_match", "hub://guardrails/regex_match",
     "guardrails-ai-regex-match"],
)  # fmt: skip
def test_a_missing_package_is_named_with_what_installs_it(name: str) -> None:
    message = wrong({"name": name, "args": {"regex": "a"}})
    assert "the Guardrails validator 'regex-match' is not installed" in message
    assert "pip install 'sifaka-mcp[guardrails]' guardrails-ai-regex-match" in message


@pytest.mark.parametrize("name", ["", "../regex", "os.path", "Regex", "a b", "x" * 61])
def test_what_is_no_name_is_refused(name: str) -> None:
    assert "is no name of a Guardrails validator" in wrong(name)


@pytest.mark.parametrize("option", ["use_local", "validation_endpoint", "on_fail"])
def test_what_would_send_the_text_away_is_refused(option: str) -> None:
    message = wrong({"name": "regex-match", "args": {option: "x"}})
    assert f"'{option}' cannot be given" in message


def test_there_must_be_one_and_not_too_many() -> None:
    assert "should be 1 to 20 validators, not 0" in wrong()
    assert "should be 1 to 20 validators, not 21" in wrong(*["regex-match"] * 21)
