import json
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from sifaka.calls.failure_log import report_failure
from sifaka.errors import ModelProviderError
from sifaka_mcp.logs import JsonFormatter, LineFormatter

logger = logging.getLogger("tests.logs")


def record(message: str, *arguments: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("mcp.server", logging.INFO, __file__, 1, message, arguments, None)
    made.__dict__.update(extra)
    return made


def failing(work: Callable[[], object], error: type[Exception]) -> logging.LogRecord:
    made = record("it failed")
    with pytest.raises(error) as caught:
        work()
    made.exc_info = (caught.type, caught.value, caught.tb)
    return made


def line(made: logging.LogRecord, *, verbose: bool = False) -> str:
    return LineFormatter(verbose=verbose).format(made)


def parsed(made: logging.LogRecord) -> dict[str, Any]:
    return json.loads(JsonFormatter().format(made))


def reported(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    error = ModelProviderError("openai:m: no answer in time", error_code="timeout")
    report_failure(logger, "critic:style", error, run_id="r 1")
    (made,) = caplog.records
    return made


def test_a_failure_is_a_line_of_component_message_and_values(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert line(reported(caplog)) == (
        "WARNING critic:style failed: openai:m: no answer in time "
        'error_type=ModelProviderError error_code=timeout retryable=true run_id="r 1"'
    )


def test_the_same_failure_in_json(caplog: pytest.LogCaptureFixture) -> None:
    found = parsed(reported(caplog))
    assert found.pop("time").endswith("+00:00")
    assert found == {
        "level": "WARNING",
        "logger": "tests.logs",
        "message": "critic:style failed: openai:m: no answer in time",
        "component": "critic:style",
        "error_type": "ModelProviderError",
        "error_code": "timeout",
        "retryable": True,
        "run_id": "r 1",
    }


def test_other_records_have_their_loggers_name() -> None:
    assert line(record("listening on %d", 80)) == "INFO mcp.server listening on 80"
    assert parsed(record("listening"))["component"] == "mcp.server"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain-1.5/x:y", "plain-1.5/x:y"),
        ("two words", '"two words"'),
        ("", '""'),
        ("a=b", '"a=b"'),
        ('say "x"', '"say \\"x\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("two\nlines", '"two\\nlines"'),
        ("\x1b[2J", '"\\x1b[2J"'),
        (3, "3"),
        (True, "true"),
    ],
)
def test_values_are_quoted_where_they_would_be_misread(value: object, shown: str) -> None:
    assert line(record("m", sifaka={"key": value})) == f"INFO mcp.server m key={shown}"


def test_no_message_can_pretend_to_be_another_line_or_move_the_cursor() -> None:
    told = line(record("one\nERROR forged\r\x1b[31m\u202e\u2028 tail, naïve — 你好"))
    assert told == (
        "INFO mcp.server one\\nERROR forged\\r\\x1b[31m\\u202e\\u2028 tail, naïve — 你好"
    )


def test_secrets_in_values_are_masked() -> None:
    made = record("m", sifaka={"note": "sk-proj-abcDEF123"})
    assert line(made).endswith("note=sk-***")
    assert parsed(made)["note"] == "sk-***"


def stumble() -> None:
    try:
        raise FileNotFoundError(2, "the private text")
    except OSError as error:
        raise ValueError("the private\ntext with sk-proj-abcDEF123") from error


def test_a_traceback_tells_where_and_which_types_but_no_words() -> None:
    first, *rest = line(failing(stumble, ValueError)).split("\n")
    assert first == "INFO mcp.server it failed"
    assert all(each.startswith("  ") for each in rest)
    assert [each.strip() for each in rest if "Error" in each and "raise" not in each] == [
        "FileNotFoundError ENOENT",
        "ValueError",
    ]
    assert any("in stumble" in each for each in rest)


def test_the_words_of_exceptions_are_there_for_who_asks_for_them_without_secrets() -> None:
    told = line(failing(stumble, ValueError), verbose=True)
    assert "ValueError: the private" in told
    assert "abcDEF123" not in told.replace('raise ValueError("the private\\ntext', "")
    assert all(each.startswith("  ") for each in told.split("\n")[1:])


def grouped() -> None:
    raise ExceptionGroup("private", [KeyError("private"), ValueError("private")])


def test_the_exceptions_of_a_group_are_all_told() -> None:
    ends = parsed(failing(grouped, ExceptionGroup))["traceback"][-3:]
    assert ends == ["ExceptionGroup", "| KeyError", "| ValueError"]


def test_arguments_that_do_not_fit_the_message_do_not_lose_it() -> None:
    assert line(record("%d things", "many")) == "INFO mcp.server %d things"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_lines_go_to_standard_error_from_the_level_asked_for() -> None:
    done = run("""
import logging
from sifaka_mcp.logs import configure
configure("WARNING")
configure("DEBUG")  # whoever was first has decided
logging.getLogger("sifaka.a").info("not this")
logging.getLogger("library").warning("nor this, which is for those who program with it")
logging.getLogger("library").error("but this")
logging.getLogger("sifaka.b").warning("and this")
""")
    assert (done.stdout, done.stderr) == ("", "ERROR library but this\nWARNING sifaka.b and this\n")


def test_objects_go_where_they_are_sent() -> None:
    done = run("""
import io, logging
from sifaka_mcp.logs import configure
stream = io.StringIO()
configure("INFO", stream, as_json=True)
logging.getLogger("a").info("this")
print(stream.getvalue(), end="")
""")
    assert json.loads(done.stdout)["message"] == "this"
    assert done.stderr == ""


def test_what_a_source_is_searched_for_is_no_part_of_the_log() -> None:
    done = run("""
from sifaka_mcp.logs import configure
configure("INFO")
import asyncio, httpx2
async def ask():
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200))
    async with httpx2.AsyncClient(transport=transport) as client:
        await client.get("https://wiki.example/w/api.php?srsearch=my+own+words")
asyncio.run(ask())
""")
    assert (done.stdout, done.stderr) == ("", "")
