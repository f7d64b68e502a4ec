"""Secrets in what is told about failures."""

import logging
import string
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sifaka._internal import masking
from sifaka._internal.masking import conceal, masked, passwords_in, secrets_in
from sifaka.calls.failure_log import report_failure
from sifaka.chain import Chain
from sifaka.errors import ConfigurationError, CriticError, ModelProviderError, StorageError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedModel
from sifaka_mcp.logs import JsonFormatter, LineFormatter
from sifaka_mcp.settings.sources import load_settings

pytestmark = pytest.mark.anyio

KEY = "9f8e7d6c5b4a39281706"


@pytest.fixture(autouse=True)
def nothing_known_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_secrets", set[str]())
    monkeypatch.setattr(masking, "_pattern", None)


KEYS = st.text(string.ascii_letters + string.digits, min_size=16, max_size=60)
SHAPES = (
    "sk-{}",
    "sk-proj-{}",
    "ghp_{}",
    "AIza{}",
    "Authorization: Bearer {}",
    "Authorization: Token {}",
    "'authorization': '{}'",
    "x-api-key: {}",
    '{{"api_key": "{}"}}',
    "OPENAI_API_KEY={}",
    "HF_TOKEN = '{}'",
    "AWS_SECRET_ACCESS_KEY={}",
    "https://host/path?token={}&x=1",
    "redis://user:{}@host:6379/0",
    "redis://:{}@host:6379/0",
    "https://{}@host/mcp",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}",
    "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
)


@pytest.mark.parametrize(
    "unit", ["-eyJ", "eyJaaaaaaaa.aaaa-", "eyJ.", "token_", "://", "-----BEGIN A"]
)
def test_what_only_begins_like_a_key_does_not_take_forever(unit: str) -> None:
    """A pattern that reads the rest again from each beginning would take hours."""
    assert len(masked(unit * (100_000 // len(unit)))) > 0


def test_a_token_is_gone_wherever_it_stands_in_a_name() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    assert masked(f"session-{token}") == "session-***"
    assert masked(f"a-long-host.example.{token} and {token}.") == "a-long-host.example.*** and ***."
    assert (
        masked("eyJ.abcd.efgh and keyJhbGciOi.abcd.efgh")
        == "eyJ.abcd.efgh and keyJhbGciOi.abcd.efgh"
    )


def test_a_message_keeps_its_beginning_and_half_a_secret_is_not_left() -> None:
    for length in (3_990, 19_990, 2_000_000):
        error = ConfigurationError(
            f"{'x ' * (length // 2)}sk-{KEY * 3}{'y' * 3_000_000}", "y" * 5_000
        )
        assert len(error.message) <= len(error.suggestion or "") == 4_003
        assert error.message.endswith("...")
        assert KEY[:8] not in str(error)


@given(key=KEYS, shape=st.sampled_from(SHAPES), before=st.text(), after=st.text())
def test_a_key_in_a_known_shape_is_gone_whatever_stands_around_it(
    key: str, shape: str, before: str, after: str
) -> None:
    assume(key not in before + after)
    assert key not in masked(f"{before} {shape.format(key)} {after}")


@given(words=st.text())
def test_masking_twice_is_masking_once(words: str) -> None:
    assert masked(masked(words)) == masked(words)


@given(words=st.lists(st.text(string.ascii_letters, min_size=1, max_size=12)))
def test_ordinary_words_stay_as_they_are(words: list[str]) -> None:
    assume("bearer" not in map(str.casefold, words))  # what follows that is a key
    text = " ".join(words)
    assert masked(text) == text


@pytest.mark.slow
@given(
    secret=st.text(string.ascii_letters + string.digits + "/+%@:!", min_size=12, max_size=40),
    words=st.text(),
)
def test_a_concealed_value_is_gone_wherever_it_stands(secret: str, words: str) -> None:
    value = f"{secret}7"
    conceal([value])
    assert value not in masked(f"{words}{value}{words}")


def test_a_password_is_concealed_as_it_stands_in_urls_and_as_it_is() -> None:
    conceal(passwords_in("redis://:p%40ss-w0rd!@host/0,milvus+http://u:t0ken:x9@h:19530"))
    for form in ("p%40ss-w0rd!", "p@ss-w0rd!", "t0ken:x9"):
        assert form not in masked(f"refused {form} twice")


@pytest.mark.parametrize("word", ["short1", "password", "changeme", "", "default"])
def test_what_could_be_an_ordinary_word_is_not_concealed(word: str) -> None:
    conceal([word])
    assert masked(f"the word {word} stays") == f"the word {word} stays"


@pytest.mark.parametrize(
    "form",
    [
        "redis://[user:password@]host[:port][/db] | unix:///path?db=0&password=...",
        "milvus+http://[user:password@ or :TOKEN@]host[:port]",
        "elasticsearch+https://USER:PASSWORD@host:9200?prefix=sifaka",
        "set SIFAKA_API_KEY=KEY or api_key=<your key>",
    ],
)
def test_the_forms_that_errors_show_stay_legible(form: str) -> None:
    assert masked(form) == form


def test_variables_are_known_by_their_names() -> None:
    environ = {
        "OPENAI_API_KEY": "a" + KEY,
        "GITHUB_TOKEN": "b" + KEY,
        "SIFAKA_STATE_KEYS": f"c{KEY}, d{KEY}",
        "REDIS_PASSWORD": "e" + KEY,
        "SIFAKA_AUTH_TOKENS_FILE": "/etc/tokens-" + KEY,
        "HOME": "/home/" + KEY,
    }
    found = set(secrets_in(environ))
    assert {letter + KEY for letter in "abcde"} <= found
    assert not any(value.startswith("/") for value in found)


def test_settings_conceal_what_the_environment_holds() -> None:
    load_settings({"MISTRAL_API_KEY": KEY, "SIFAKA_STORE": "redis://:s3cr3t-pass%2Fw0rd@host:6379"})
    assert str(StorageError(f"refused {KEY}", f"do not send {KEY}")) == (
        "refused *** — do not send ***"
    )
    assert "s3cr3t-pass" not in StorageError("AUTH s3cr3t-pass/w0rd failed").message


def test_an_error_holds_no_secret_from_the_start() -> None:
    error = ModelProviderError(
        f"refused sk-{KEY}", f"unset api_key={KEY}", error_code="authentication"
    )
    assert KEY not in f"{error!r} {error} {error.args} {error.message} {error.suggestion}"


def test_a_record_of_any_logger_has_none_in_message_values_or_traceback() -> None:
    conceal([KEY])
    try:
        raise ValueError(f"Authorization: Bearer {KEY}")
    except ValueError as error:
        record = logging.LogRecord(
            "httpx", logging.ERROR, __file__, 1, "GET %s", (f"https://u:{KEY}@h/?k={KEY}",), None
        )
        record.exc_info = (ValueError, error, error.__traceback__)
    record.__dict__["sifaka"] = {"note": KEY}
    for verbose in (False, True):
        for formatter in (LineFormatter(verbose=verbose), JsonFormatter(verbose=verbose)):
            told = formatter.format(record)
            assert KEY not in told
            assert "***" in told


def test_a_failure_is_masked_for_handlers_that_are_not_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = StorageError(f"cannot open redis://:{KEY}@host")
    report_failure(logging.getLogger("tests"), "store", error)
    assert KEY not in caplog.text
    assert KEY not in str(caplog.records[0].__dict__)


class Leaking:
    """A critic that tells its key."""

    name = "leaking"

    async def critique(self, thought: Thought) -> CriticFeedback:
        raise CriticError(f"HTTP 401 for https://u:{KEY}@h with Authorization: Bearer {KEY}")


async def test_no_error_in_a_stored_run_holds_a_secret() -> None:
    model = ScriptedModel(
        lines=[ModelProviderError(f"refused sk-{KEY}", error_code="authentication")]
    )
    rule = {"type": "length", "min_words": 50}
    chain = Chain(model=model, critics=[Leaking(), "lint"], validators=[rule])
    result = await chain.run("Write.", text="This is a text.")
    assert result.status == "failed"
    stored = result.run.model_dump_json()
    assert "***" in stored
    assert KEY not in stored


async def test_the_text_of_a_user_is_never_altered() -> None:
    conceal([KEY])
    text = f"Use sk-{KEY} and https://u:{KEY}@host, password={KEY}."
    result = await Chain(model="editor", critics=[]).run(text=text)
    assert result.text == text
    assert text in result.run.thoughts[0].text


def test_a_wrong_setting_does_not_repeat_a_secret_of_the_environment() -> None:
    with pytest.raises(ConfigurationError) as error:
        load_settings({"OPENAI_API_KEY": KEY, "SIFAKA_MODEL": KEY})
    assert KEY not in str(error.value)


@pytest.mark.slow
def test_a_command_that_fails_tells_no_secret() -> None:
    store = f"redis://:{KEY}@127.0.0.1:1/0"
    done = subprocess.run(
        [sys.executable, "-m", "sifaka_mcp.cli", "doctor", "--log-level", "DEBUG"],
        capture_output=True,
        text=True,
        env={"PATH": "", "SIFAKA_STORE": store, "SIFAKA_HOME": "/nowhere"},
        check=False,
    )
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stdout
    assert KEY not in done.stdout + done.stderr
