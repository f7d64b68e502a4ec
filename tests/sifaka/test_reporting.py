import logging
from typing import Any

import pytest

from sifaka.errors import ModelProviderError
from sifaka.reporting import report_failure

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


def test_a_foreign_exception_has_its_traceback_in_the_record(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = raised(KeyError("x"))
    report_failure(logger, "c", error)
    assert only(caplog).exc_info == (KeyError, error, error.__traceback__)


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
    assert (record.levelname, record.filename) == ("ERROR", "test_reporting.py")


def test_a_level_nobody_listens_to_makes_no_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger.name)
    report_failure(logger, "c", ModelProviderError("m"))
    assert caplog.records == []
