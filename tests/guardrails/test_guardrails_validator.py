"""Against the real package, which is an extra: `make test-guardrails` runs this by itself."""

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

pytest.importorskip("guardrails_ai.regex_match")
pytest.importorskip("guardrails_ai.valid_length")

from sifaka.errors import ConfigurationError  # nothing here runs without the package
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import GuardrailsValidator, parse_validators
from sifaka.validators.execution import run_validators

# Guardrails and what it imports warn about each other; that is theirs to mend.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

ECHO = '''
import threading
from guardrails.validator_base import (
    ErrorSpan, FailResult, PassResult, Validator, register_validator
)


@register_validator(name="sifaka/echo", data_type="string")
class Echo(Validator):
    """Finds every `x`, by the way that models take."""

    def validate(self, value, metadata):
        spans = self._inference(value)
        if not spans:
            return PassResult()
        return FailResult(
            error_message=f"in {threading.current_thread().name}",
            error_spans=[ErrorSpan(start=at, end=at + 1, reason="an x") for at in spans],
            fix_value=value.replace("x", "y"),
        )

    def _inference_local(self, model_input):
        return [at for at, each in enumerate(model_input) if each == "x"]
'''


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `guardrails_ai.sifaka_echo` beside the installed ones."""
    package = tmp_path / "guardrails_ai" / "sifaka_echo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(ECHO, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


async def check(text: str, *validators: object) -> ValidationResult:
    spec = {"type": "guardrails", "validators": list(validators)}
    results = await run_validators(parse_validators([spec]), Thought(text=text))
    return results["guardrails"]


async def test_a_text_passes_or_fails_by_a_validator_of_pypi() -> None:
    pattern = {"name": "regex-match", "args": {"regex": "ticket [0-9]+", "match_type": "search"}}
    passed = await check("See ticket 12.", pattern)
    assert (passed.passed, passed.score, passed.issues) == (True, 1.0, ())
    failed = await check("See the ticket.", pattern)
    assert not failed.passed
    assert failed.message == "regex-match: Result must match ticket [0-9]+"


async def test_what_it_would_write_is_a_fix_that_nobody_applies_unasked() -> None:
    result = await check("far too long", {"name": "guardrails/valid_length", "args": {"max": 3}})
    (issue,) = result.issues
    assert (issue.start, issue.end, issue.fix, issue.safe) == (0, 12, "far", False)
    assert issue.rule == "valid-length"


async def test_several_of_them_are_told_apart() -> None:
    result = await check(
        "abc",
        {"name": "valid-length", "args": {"max": 10}},
        {"name": "regex-match", "args": {"regex": "[0-9]+"}},
    )
    assert (result.passed, result.score) == (False, 0.5)
    assert [issue.rule for issue in result.issues] == ["regex-match"]


async def test_places_are_pointed_at_and_it_runs_in_a_worker_thread(echo: Path) -> None:
    result = await check("a x and x", "sifaka-echo")
    whole, *places = result.issues
    assert whole.fix == "a y and y"
    assert [(issue.start, issue.quote, issue.message) for issue in places] == [
        (2, "x", "an x"),
        (8, "x", "an x"),
    ]
    assert threading.current_thread().name not in result.message


async def test_a_validator_that_is_not_there_is_named_with_its_package() -> None:
    with pytest.raises(ConfigurationError, match="guardrails-ai-no-such-thing"):
        parse_validators([{"type": "guardrails", "validators": ["no-such-thing"]}])


@pytest.mark.parametrize("args", [{"pattern": "a"}, {"regex": "a", "match_type": "wild"}])
async def test_wrong_args_fail_the_text_instead_of_passing_it(args: dict[str, object]) -> None:
    validator = GuardrailsValidator.model_validate(
        {"validators": [{"name": "regex-match", "args": args}]}
    )
    with pytest.raises(ConfigurationError, match="'regex-match' refuses its args"):
        await validator.validate(Thought(text="a"))
    assert not (await check("a", {"name": "regex-match", "args": args})).passed


async def test_a_module_of_guardrails_itself_is_no_validator() -> None:
    with pytest.raises(ConfigurationError, match="validators, not one"):
        await GuardrailsValidator(validators=["types"]).validate(Thought(text="a"))


WATCHED = """
    import json, os, sys

    seen = []

    def watch(event, args):
        if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"}:
            seen.append([event, str(args[1:])])
        elif event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
            seen.append([event, str(args[0])])
        elif event in {"os.mkdir", "subprocess.Popen"}:
            seen.append([event, str(args[0])])

    sys.addaudithook(watch)
    import anyio
    from sifaka.record.thought import Thought
    from sifaka.validators import GuardrailsValidator
    from sifaka.validators.guardrails import silence

    if os.environ.get("SPOKEN_FIRST"):
        # Somebody else in the process has made the tracer, with its telemetry on.
        from guardrails.utils.hub_telemetry_utils import HubTelemetry
        assert HubTelemetry()._enabled is True
    validator = GuardrailsValidator(validators=["sifaka-echo"])
    if not os.environ.get("TELEMETRY_ON"):
        anyio.run(validator.validate, Thought(text="a x and x"))
    else:
        # The same without our switch: what the audit would see of a tracer that speaks.
        from guardrails_ai.sifaka_echo import Echo
        Echo(on_fail="noop").validate("a x and x", {})
    from guardrails.utils.hub_telemetry_utils import HubTelemetry
    telemetry = HubTelemetry()
    telemetry._tracer_provider.force_flush(3000)
    telemetry._tracer_provider.shutdown()
    here = os.environ["HOME"]
    print(json.dumps({
        "sent": [each for each in seen if each[0].startswith("socket")],
        "written": [each for each in seen if not each[0].startswith("socket")],
        "enabled": telemetry._enabled,
    }))
"""


def watched(home: Path, packages: Path, **environment: str) -> dict[str, object]:
    """What a fresh interpreter sends and writes while it runs a validator that is traced."""
    home.mkdir()
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-B", "-c", textwrap.dedent(WATCHED)],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": os.pathsep.join((str(packages), str(Path.cwd()))),
            **environment,
        },
        cwd=Path.cwd(),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    seen = json.loads(ran.stdout.splitlines()[-1])
    assert list(home.iterdir()) == []
    return seen


def test_nothing_is_sent_and_nothing_is_written(tmp_path: Path, echo: Path) -> None:
    seen = watched(tmp_path / "home", echo)
    assert seen == {"sent": [], "written": [], "enabled": False}


def test_nothing_is_sent_after_somebody_else_switched_it_on(tmp_path: Path, echo: Path) -> None:
    seen = watched(tmp_path / "home", echo, SPOKEN_FIRST="1")
    assert (seen["sent"], seen["enabled"]) == ([], False)


def test_the_watch_would_see_it(tmp_path: Path, echo: Path) -> None:
    # A proxy that is not there keeps this attempt on the machine.
    seen = watched(
        tmp_path / "home", echo, TELEMETRY_ON="1", HTTPS_PROXY="http://127.0.0.1:9", NO_PROXY=""
    )
    assert seen["enabled"] is True
    assert seen["sent"]
