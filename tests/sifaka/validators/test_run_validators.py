"""Validators run, and of other code: objects with `validate`, and plain functions."""

import logging
import threading
import time
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.lowlevel import checkpoint

from sifaka import Chain
from sifaka.errors import ConfigurationError
from sifaka.isolation import SHORT
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage
from sifaka.validators import (
    FunctionValidator,
    LengthValidator,
    PreserveValidator,
    Validator,
    ValidatorFunction,
    as_validator,
    max_words,
    min_words,
    parse_validators,
)
from sifaka.validators.execution import run_validators

pytestmark = pytest.mark.anyio


class Noting:
    """A validator that does what a test says."""

    def __init__(self, name: str = "scripted", *, required: bool = True) -> None:
        self.name = name
        self.required = required
        self.threads: list[int] = []

    def validate(self, thought: Thought) -> ValidationResult:
        self.threads.append(threading.get_ident())
        return ValidationResult(passed=True, message=str(thought.metadata.get("original")))


class Crashing(Noting):
    def validate(self, thought: Thought) -> ValidationResult:
        raise KeyError("a secret of the text")


class Wrong(Noting):
    def validate(self, thought: Thought) -> ValidationResult:
        return "yes"  # type: ignore[return-value] # wrong on purpose


class CrashingLater(Noting):
    async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # may be either
        self, thought: Thought
    ) -> ValidationResult:
        await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.lowlevel.checkpoint)
            raise ValueError
        return ValidationResult(passed=True)


class Waiting(Noting):
    def __init__(self, name: str, mine: anyio.Event, other: anyio.Event) -> None:
        super().__init__(name)
        self.mine, self.other = mine, other

    async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # may be either
        self, thought: Thought
    ) -> ValidationResult:
        self.mine.set()
        await self.other.wait()
        return ValidationResult(passed=True)


async def test_results_come_in_order_under_unique_names() -> None:
    validators: list[Validator] = [
        LengthValidator(max_words=1),
        Noting("length#2"),
        LengthValidator(min_words=1, required=False),
        LengthValidator(max_chars=50),
    ]
    results = await run_validators(validators, Thought(text="two words"))
    assert list(results) == ["length", "length#2", "length#3", "length#4"]
    assert [result.passed for result in results.values()] == [False, True, True, True]
    assert [result.validator for result in results.values()] == list(results)
    assert [result.required for result in results.values()] == [True, True, False, True]

    assert await run_validators([], Thought()) == {}


async def test_the_original_is_passed_and_the_thought_stays_as_it_is() -> None:
    thought = Thought(text="5", metadata={"kept": 1})
    results = await run_validators([PreserveValidator(), Noting()], thought, "It is 6.")
    assert results["preserve"].message == "1 of 1 gone: number 6"
    assert results["scripted"].message == "It is 6."
    assert dict(thought.metadata) == {"kept": 1}


async def test_a_validator_that_crashes_or_returns_something_else_has_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="sifaka"):
        kinds = [Crashing("bad", required=False), CrashingLater("worse"), Wrong("other")]
        results = await run_validators([*kinds, Noting("good")], Thought())
    assert results["bad"].message == "the validator 'bad' crashed with KeyError"
    assert (results["bad"].passed, results["bad"].required) == (False, False)
    assert "worse" in results["worse"].message
    for name in ("bad", "worse", "other"):
        assert not results[name].passed
        assert [issue.rule for issue in results[name].issues] == ["crash"]
    assert results["good"].passed
    assert [record.name for record in caplog.records] == ["sifaka"] * 3
    assert "a secret" not in "".join(record.getMessage() for record in caplog.records)


async def test_validators_that_answer_later_run_at_the_same_time() -> None:
    first, second = anyio.Event(), anyio.Event()
    pair = [Waiting("a", first, second), Waiting("b", second, first)]
    with anyio.fail_after(60):
        results = await run_validators(pair, Thought())
    assert list(results) == ["a", "b"]
    assert all(result.passed for result in results.values())


async def test_cancellation_passes_through() -> None:
    with anyio.move_on_after(0.01) as scope:
        await run_validators([Waiting("a", anyio.Event(), anyio.Event())], Thought())
    assert scope.cancelled_caught


async def test_only_a_long_text_is_checked_in_a_thread() -> None:
    short, long = Noting(), Noting()
    await run_validators([short], Thought(text="x" * SHORT))
    await run_validators([long], Thought(text="x" * (SHORT + 1)))
    assert short.threads == [threading.get_ident()]
    assert long.threads != [threading.get_ident()]


PARAGRAPH = (
    "The committee met on 12 May 2024, e.g. to discuss the budget of $1,500 with Dr. Smith. "
    'It said "no" twice. See https://example.org/minutes and `make test` for more. '
    "Café owners, שלום, 合同 and 😀 were there.\n\n"
)
ALL: list[dict[str, object]] = [
    {"type": "length", "max_words": 100, "max_chars": 1000},
    {"type": "content", "required": ["budget"], "prohibited": ["leverage", "twice"]},
    {"type": "readability", "max_grade": 5},
    {"type": "preserve"},
    {"type": "regex", "must_match": [r"\bbudget\b"], "must_not_match": ["foo"]},
    {"type": "format", "format": "json", "name": "json"},
    {"type": "format", "format": "yaml", "name": "yaml"},
    {"type": "format", "format": "markdown", "name": "markdown"},
]


@pytest.mark.hostile
@pytest.mark.parametrize("spec", ALL, ids=lambda spec: str(spec.get("name", spec["type"])))
async def test_a_megabyte_takes_less_than_two_seconds(spec: dict[str, object]) -> None:
    text = PARAGRAPH * (1_000_000 // len(PARAGRAPH))
    validators = parse_validators([spec])
    thought = Thought(text=text)
    await run_validators(validators, Thought(text=PARAGRAPH), "")
    began = time.process_time()
    await run_validators(validators, thought, text + "7")
    assert time.process_time() - began < 2


def mentions_harbor(text: str) -> bool:
    return "Harbor" in text


def complains(text: str) -> str:
    return "say it shorter" if len(text) > 20 else ""


async def later(text: str) -> bool | str:
    await checkpoint()
    return "Harbor" in text or "name the product"


def judged(text: str) -> ValidationResult:
    return ValidationResult(passed=False, message="no", score=0.25, suggestions=(text,))


LONG: ValidatorFunction = lambda text: len(text) > 2  # noqa: E731 - a name of its own is the point


async def result_of(validator: Any, text: str) -> ValidationResult:
    (result,) = (await run_validators(parse_validators([validator]), Thought(text=text))).values()
    return result


@pytest.mark.parametrize(
    ("function", "text", "passed", "message"),
    [
        (mentions_harbor, "Harbor 2.0", True, "passed"),
        (mentions_harbor, "It", False, "mentions_harbor does not hold"),
        (complains, "short", True, "passed"),
        (complains, "a text that is too long", False, "say it shorter"),
        (later, "Harbor", True, "passed"),
        (later, "It", False, "name the product"),
        (judged, "It", False, "no"),
        (LONG, "It", False, "lambda does not hold"),
        (partial(complains), "a text that is too long", False, "say it shorter"),
    ],
)
async def test_a_function_says_whether_a_text_passes(
    function: Any, text: str, passed: bool, message: str
) -> None:
    result = await result_of(function, text)
    assert (result.passed, result.message, result.required) == (passed, message, True)
    assert all(issue.message == message for issue in result.issues)


async def test_a_result_of_a_function_is_kept_as_it_is() -> None:
    result = await result_of(judged, "It")
    assert (result.score, result.suggestions, result.validator) == (0.25, ("It",), "judged")


async def test_functions_of_one_name_are_told_apart_and_may_be_advice_under_another() -> None:
    advice = FunctionValidator(mentions_harbor, name="product", required=False)
    result = await result_of(advice, "It")
    assert (result.validator, result.passed, result.required) == ("product", False, False)
    pair: list[ValidatorFunction] = [lambda _: True, lambda _: False]
    results = await run_validators(parse_validators(pair), Thought(text="It"))
    passed = {name: result.passed for name, result in results.items()}
    assert passed == {"lambda": True, "lambda#2": False}


async def test_what_a_function_must_not_return_is_told() -> None:
    result = await result_of(len, "It")
    assert not result.passed
    assert "the validator 'len' could not be run: it returned int" in result.message
    assert "return True, False, a complaint as a string" in result.message


class OnlyChecks:
    def validate(self, thought: Thought) -> ValidationResult:
        return ValidationResult(passed=bool(thought.text))


async def test_an_object_needs_no_more_than_validate() -> None:
    result = await result_of(OnlyChecks(), "It")
    assert (result.validator, result.passed, result.required) == ("OnlyChecks", True, True)


@pytest.mark.parametrize("given", [LengthValidator, OnlyChecks, object()])
def test_what_is_no_validator_is_told_with_what_is(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"validators\[0\]: .* is not a validator") as told:
        parse_validators([given])
    assert "a function of the text" in (told.value.suggestion or "")


def test_a_validator_of_ours_stays_as_it_is() -> None:
    length = max_words(3)
    assert as_validator(length) is length
    assert max_words(3) == LengthValidator(max_words=3)
    assert min_words(2) == LengthValidator(min_words=2)


async def test_a_run_with_a_function_is_resumed_only_by_the_program_that_has_it() -> None:
    store = MemoryStorage()
    chain = Chain(model="editor", critics=[], validators=[mentions_harbor], store=store)
    run = (await chain.start(text="Harbor 2.0 is here.")).run
    (recorded,) = run.config.validators
    name = "mentions_harbor"
    assert recorded == {"type": "object", "class": f"{__name__}.{name}", "name": name}
    with pytest.raises(ConfigurationError, match="not plain data"):
        Chain.of_config(run.config)
    again = Chain(model="editor", critics=[], validators=[mentions_harbor], store=store)
    assert (await again.resume(run.run_id)).rules_met
    with pytest.raises(ConfigurationError, match="another configuration"):
        await again.replace(validators=[complains]).resume(run.run_id)
