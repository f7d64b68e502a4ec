"""Bugs in components that the caller has written, as the log and the result show them."""

import logging
from collections.abc import Sequence

import pytest

from sifaka import Chain, CriticFeedback, Document, Thought, ValidationResult
from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError
from sifaka.models import Generation
from sifaka_mcp.logs import LineFormatter

pytestmark = pytest.mark.anyio


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
