import logging
from typing import Any

import pytest

from sifaka.calls.failure_log import report_failure, stack_of
from sifaka.errors import ModelProviderError

logger = logging.getLogger("tests.reporting")


def only(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    (record,) = caplog.records
    return record


def data(record: logging.LogRecord) -> dict[str, Any]:
    return record.__dict__["sifaka"]


def raised(error: Exception) -> Exception:
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


def test_a_failure_of_ours_is_one_record_with_data(caplog: pytest.LogCaptureFixture) -> None:
    error = ModelProviderError("openai:m: no answer in time", "resume later", code="timeout")
    report_failure(logger, "critic:style", error, run_id="r1", iteration=2)
    record = only(caplog)
    assert record.getMessage() == "critic:style failed: openai:m: no answer in time"
    assert (record.levelno, record.exc_info) == (logging.WARNING, None)
    assert data(record) == {
        "component": "critic:style",
        "error_type": "ModelProviderError",
        "code": "timeout",
        "retryable": True,
        "run_id": "r1",
        "iteration": 2,
    }


def test_the_words_of_a_foreign_exception_are_not_in_the_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    report_failure(logger, "validator:json", raised(ValueError("the private text")))
    record = only(caplog)
    assert record.getMessage() == "validator:json failed: ValueError"
    assert "private" not in str(data(record))
    assert (data(record)["code"], data(record)["retryable"]) == ("value_error", False)


def stumble(text: str) -> None:
    try:
        raise KeyError(text)
    except KeyError as error:
        raise ValueError(f"cannot parse {text}") from error


def test_a_foreign_exception_leaves_its_stack_but_no_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ValueError, match="private") as caught:
        stumble("the private text")
    report_failure(logger, "c", caught.value)
    record = only(caplog)
    stack: list[str] = record.__dict__["sifaka_stack"]
    assert [line for line in stack if not line.startswith("File ")] == ["KeyError", "ValueError"]
    assert stack[0].startswith(f'File "{__file__}", line ')
    assert stack[0].endswith(", in stumble")
    assert "private" not in str(record.__dict__)
    assert record.exc_info is None


def test_a_handler_of_whoever_uses_the_library_prints_no_words_of_an_exception(
    caplog: pytest.LogCaptureFixture,
) -> None:
    report_failure(logger, "c", raised(ValueError("the private text")))
    assert logging.Formatter().format(only(caplog)) == "c failed: ValueError"


def descend(left: int) -> None:
    if left == 0:
        raise ZeroDivisionError
    descend(left - 1)


def test_the_stack_of_a_deep_recursion_is_cut_at_its_outer_end() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        descend(200)
    stack = list(stack_of(caught.value))
    assert len(stack) == 41
    assert stack[-2].endswith("in descend")
    assert stack[-1] == "ZeroDivisionError"


def test_a_message_is_one_line_of_bounded_length(caplog: pytest.LogCaptureFixture) -> None:
    report_failure(logger, "c", ModelProviderError("one\ntwo " + "x" * 5000))
    message = only(caplog).getMessage()
    assert message.startswith("c failed: one two xxx")
    assert len(message) == len("c failed: ") + 300


def test_a_percent_sign_in_a_message_is_only_that(caplog: pytest.LogCaptureFixture) -> None:
    report_failure(logger, "c", ModelProviderError("100 %s"))
    assert only(caplog).getMessage() == "c failed: 100 %s"


def test_the_record_names_the_caller_and_the_level_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    report_failure(logger, "c", ModelProviderError("m"), level=logging.ERROR)
    record = only(caplog)
    assert (record.levelname, record.filename) == ("ERROR", "test_failure_log.py")


def test_a_level_nobody_listens_to_makes_no_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger.name)
    report_failure(logger, "c", ModelProviderError("m"))
    assert caplog.records == []
