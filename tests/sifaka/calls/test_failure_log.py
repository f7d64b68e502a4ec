"""Failures in the log: what it has of them, and what of bugs in code of the caller's."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from sifaka import Chain, CriticFeedback, Document, Thought, ValidationResult
from sifaka.calls.failure_log import report_failure, stack_of
from sifaka.errors import ModelProviderError, SifakaError
from sifaka.models import Generation
from sifaka_mcp.logs import LineFormatter

pytestmark = pytest.mark.anyio

logger = logging.getLogger("tests.reporting")


def only(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    (record,) = caplog.records
    return record


def data(record: logging.LogRecord) -> dict[str, Any]:
    return record.__dict__["sifaka"]


def test_a_failure_of_ours_is_one_record_with_data(caplog: pytest.LogCaptureFixture) -> None:
    error = ModelProviderError("openai:m: no answer in time", "resume later", error_code="timeout")
    report_failure(logger, "critic:style", error, run_id="r1", iteration=2)
    record = only(caplog)
    assert record.getMessage() == "critic:style failed: openai:m: no answer in time"
    assert (record.levelno, record.exc_info) == (logging.WARNING, None)
    assert data(record) == {
        "component": "critic:style",
        "error_type": "ModelProviderError",
        "error_code": "timeout",
        "retryable": True,
        "run_id": "r1",
        "iteration": 2,
    }


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


class Rule:
    name = "rule"
    required = True

    def validate(self, thought: Thought) -> ValidationResult:
        raise KeyError("no such word")


class Reader:
    name = "reader"

    async def critique(self, thought: Thought) -> CriticFeedback:
        raise KeyError("no such word")


class Shelf:
    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        raise KeyError("no such word")


@pytest.mark.parametrize(
    ("chain", "component", "function", "told"),
    [
        (Chain(validators=[Rule()]), "validator:rule", "validate", "'rule' crashed with KeyError"),
        (
            Chain(critics=[Reader()]),
            "critic:reader",
            "critique",
            "reader: it crashed with KeyError",
        ),
        (Chain(retrievers=[Shelf()]), "retriever:Shelf", "retrieve", "Shelf crashed with KeyError"),
    ],
    ids=["validator", "critic", "retriever"],
)
async def test_the_log_has_the_whole_traceback_and_the_result_names_what_crashed(
    chain: Chain, component: str, function: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    result = await chain.run(text="It is so.")
    messages = [each.message for each in result.validation_results]
    assert told in " ".join([*messages, *result.degraded])
    record = next(each for each in caplog.records if component in each.getMessage())
    for shown in (logging.Formatter().format(record), LineFormatter().format(record)):
        assert f'{__file__}", line ' in shown
        assert f"in {function}" in shown
        assert "KeyError: 'no such word'" in shown


class Writer:
    name = "writer"

    async def generate_with_thought(self, thought: Thought) -> Generation:
        raise KeyError("no such word")


async def test_a_bug_in_a_model_ends_the_run_and_the_log_names_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = await Chain(model=Writer(), critics=["lint"]).run("Write.")
    assert (result.status, result.text) == ("failed", "")
    assert "writer: broke off with KeyError" in (result.error or "")
    (record,) = caplog.records
    shown = LineFormatter().format(record)
    assert shown.startswith("WARNING model:writer failed: KeyError")
    assert "in generate_with_thought" in shown
    assert "KeyError: 'no such word'" in shown


async def test_a_plain_function_is_code_of_the_callers_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def shouts(text: str) -> bool:
        raise KeyError("no such word")

    result = await Chain(validators=[shouts]).run(text="It is so.")
    assert "'shouts' crashed with KeyError" in result.validation_results[0].message
    assert "KeyError: 'no such word'" in LineFormatter().format(caplog.records[0])


class OfTheLibrary:
    __module__ = "sifaka.validators.length"


@pytest.mark.parametrize(
    ("error", "source"),
    [(KeyError("words"), OfTheLibrary()), (KeyError("words"), None), (SifakaError("e"), Rule())],
)
def test_other_failures_are_logged_without_the_words_of_foreign_exceptions(
    error: Exception, source: object, caplog: pytest.LogCaptureFixture
) -> None:
    report_failure(logging.getLogger("tests"), "validator:length", error, source=source)
    (record,) = caplog.records
    assert record.exc_info is None
    assert "words" not in LineFormatter().format(record)
