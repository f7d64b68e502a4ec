"""Validators of other code: objects with `validate`, and plain functions."""

import threading
from functools import partial
from typing import Any

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
    ValidatorFunction,
    all_of,
    as_validator,
    max_words,
    min_words,
    parse_validators,
)
from sifaka.validators.execution import run_validators

pytestmark = pytest.mark.anyio


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


async def test_a_function_can_be_advice_under_a_name_of_its_own() -> None:
    advice = FunctionValidator(mentions_harbor, name="product", required=False)
    result = await result_of(advice, "It")
    assert (result.validator, result.passed, result.required) == ("product", False, False)


async def test_functions_of_one_name_are_told_apart() -> None:
    pair: list[ValidatorFunction] = [lambda _: True, lambda _: False]
    results = await run_validators(parse_validators(pair), Thought(text="It"))
    assert {name: result.passed for name, result in results.items()} == {
        "lambda": True,
        "lambda#2": False,
    }


async def test_what_a_function_must_not_return_is_told() -> None:
    result = await result_of(len, "It")
    assert not result.passed
    assert "the validator 'len' could not be run: it returned int" in result.message
    assert "return True, False, a complaint as a string" in result.message


async def test_a_synchronous_function_reads_a_long_text_in_a_worker_thread() -> None:
    threads: list[int] = []

    def note(text: str) -> bool:
        threads.append(threading.get_ident())
        return bool(text)

    await result_of(note, "short")
    await result_of(note, "x" * (SHORT + 1))
    assert threads[0] == threading.get_ident() != threads[1]


async def test_functions_compose_with_validators() -> None:
    both = LengthValidator(max_words=3) & mentions_harbor
    assert both.name == "all(length, mentions_harbor)"
    assert (await result_of(both, "Harbor is here")).passed
    assert not (await result_of(both, "It is here")).passed
    assert (await result_of(mentions_harbor | LengthValidator(max_words=1), "It")).passed
    assert (await result_of(all_of(later, complains), "Harbor")).passed


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
    assert (max_words(3), min_words(2)) == (
        LengthValidator(max_words=3),
        LengthValidator(min_words=2),
    )


@pytest.mark.parametrize(
    ("kind", "suggestion"),
    [("lenght", "did you mean 'length'?"), ("Read-ability", "did you mean 'readability'?")],
)
def test_a_misspelt_type_is_told_with_what_it_may_have_meant(kind: str, suggestion: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_validators([{"type": kind}])
    assert suggestion in str(error.value)


async def test_a_run_with_a_function_is_resumed_only_by_the_program_that_has_it() -> None:
    store = MemoryStorage()
    chain = Chain(model="editor", critics=[], validators=[mentions_harbor], store=store)
    run = (await chain.start(text="Harbor 2.0 is here.")).run
    (recorded,) = run.config.validators
    assert recorded == {
        "type": "object",
        "class": f"{__name__}.mentions_harbor",
        "name": "mentions_harbor",
    }
    with pytest.raises(ConfigurationError, match="not plain data"):
        Chain.of_config(run.config)
    again = Chain(model="editor", critics=[], validators=[mentions_harbor], store=store)
    assert (await again.resume(run.run_id)).rules_met
    with pytest.raises(ConfigurationError, match="another configuration"):
        await again.replace(validators=[complains]).resume(run.run_id)
