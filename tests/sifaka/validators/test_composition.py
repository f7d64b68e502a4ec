from collections.abc import Callable
from dataclasses import dataclass
from inspect import isawaitable

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import LengthValidator, Validator, all_of, any_of, parse_validators
from sifaka.validators.composition import Composable
from sifaka.validators.execution import run_validators

pytestmark = pytest.mark.anyio

THOUGHT = Thought(text="two words")


@dataclass(frozen=True)
class Scripted(Composable):
    """A validator that does what a test says."""

    passed: bool = True
    score: float = 1.0
    name: str = "scripted"
    required: bool = True
    crashes: bool = False

    def validate(self, thought: Thought) -> ValidationResult:
        if self.crashes:
            raise KeyError(self.name)
        issue = Issue(message=f"{self.name} is wrong", fix="x", safe=True)
        return ValidationResult(
            passed=self.passed,
            score=self.score,
            message=f"says {self.name}",
            issues=() if self.passed else (issue,),
            suggestions=() if self.passed else (f"mend {self.name}",),
        )


class Later(Scripted):
    """The same, after a while."""

    async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # may be either
        self, thought: Thought
    ) -> ValidationResult:
        await anyio.lowlevel.checkpoint()
        return super().validate(thought)


class Foreign:
    """A validator that knows nothing of composition."""

    name = "foreign"
    required = False

    def validate(self, thought: Thought) -> ValidationResult:
        return ValidationResult(passed=True, message="fine")


GOOD, BAD = Scripted(name="good"), Scripted(passed=False, score=0.25, name="bad")


async def outcome(validator: Validator) -> ValidationResult:
    found = validator.validate(THOUGHT)
    return await found if isawaitable(found) else found


async def test_and_fails_with_all_issues_of_what_failed() -> None:
    other = Scripted(passed=False, score=0.5, name="other")
    result = await outcome(GOOD & BAD & other)
    assert (result.passed, result.score) == (False, 0.25)
    assert [issue.message for issue in result.issues] == ["bad is wrong", "other is wrong"]
    assert result.suggestions == ("mend bad", "mend other")
    assert result.message == "bad: says bad; other: says other"
    assert (await outcome(GOOD & GOOD)).passed


async def test_or_has_issues_only_when_everything_failed_and_no_fix_of_them_is_safe() -> None:
    result = await outcome(BAD | GOOD)
    assert (result.passed, result.score, result.issues) == (True, 1.0, ())
    result = await outcome(BAD | Scripted(passed=False, score=0.5, name="other"))
    assert (result.passed, result.score) == (False, 0.5)
    assert [issue.message for issue in result.issues] == ["bad is wrong", "other is wrong"]
    assert not any(issue.safe for issue in result.issues)


async def test_every_built_in_validator_composes_on_either_side() -> None:
    short, foreign = LengthValidator(max_words=1), Foreign()
    assert (await outcome(short | foreign)).passed
    assert (await outcome(foreign | short)).passed
    assert not (await outcome(foreign & short)).passed
    assert (await outcome(any_of(foreign, short))).passed
    assert not (await outcome(all_of(foreign, short))).passed


async def test_names_say_how_it_is_composed() -> None:
    length = LengthValidator(max_words=1)
    assert (GOOD & BAD & length).name == "all(good, bad, length)"
    assert ((GOOD & BAD) | length).name == "any(all(good, bad), length)"


async def test_it_is_binding_as_soon_as_one_part_is() -> None:
    advice = Scripted(required=False)
    assert (GOOD & advice).required
    assert (advice | GOOD).required
    assert not (advice | advice).required


async def test_a_composition_is_a_value() -> None:
    composed = GOOD & (BAD | GOOD)
    assert composed == GOOD & (BAD | GOOD)
    with pytest.raises(AttributeError):
        composed.parts = ()  # pyright: ignore[reportAttributeAccessIssue] # wrong on purpose
    assert parse_validators([composed]) == (composed,)


async def test_a_composition_needs_a_part() -> None:
    for function in (all_of, any_of):
        with pytest.raises(ConfigurationError):
            function()


async def test_parts_answer_now_or_later_side_by_side() -> None:
    assert not (await outcome(GOOD & BAD)).passed
    assert not (await outcome(GOOD & (Later() & BAD))).passed


async def test_parts_that_answer_later_wait_for_each_other() -> None:
    events = anyio.Event(), anyio.Event()

    class Meeting(Scripted):
        async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # may be either
            self, thought: Thought
        ) -> ValidationResult:
            mine, other = events if self.name == "first" else events[::-1]
            mine.set()
            await other.wait()
            return super().validate(thought)

    with anyio.fail_after(60):
        assert (await outcome(Meeting(name="first") & Meeting(name="second"))).passed


CRASH: list[Callable[[Validator], Validator]] = [
    lambda crash: GOOD | crash if isinstance(crash, Composable) else crash,
    lambda crash: any_of(crash, GOOD),
    lambda crash: all_of(BAD, crash),
    lambda crash: any_of(GOOD, all_of(Later(), crash)),
    lambda crash: all_of(any_of(Later(), GOOD), crash),
]


@pytest.mark.parametrize("compose", CRASH)
@pytest.mark.parametrize("kind", [Scripted, Later])
async def test_a_part_that_crashes_fails_the_whole(
    compose: Callable[[Validator], Validator], kind: type[Scripted]
) -> None:
    composed = compose(kind(name="crashing", crashes=True))
    (result,) = (await run_validators([composed], THOUGHT)).values()
    assert not result.passed
    assert "crashed with KeyError" in result.message
    assert [issue.rule for issue in result.issues] == ["crash"]


@pytest.mark.parametrize("compose", CRASH)
async def test_a_part_that_returns_something_else_has_crashed(
    compose: Callable[[Validator], Validator],
) -> None:
    class Wrong(Scripted):
        def validate(self, thought: Thought) -> ValidationResult:
            return "yes"  # type: ignore[return-value] # wrong on purpose

    (result,) = (await run_validators([compose(Wrong())], THOUGHT)).values()
    assert not result.passed
    assert [issue.rule for issue in result.issues] == ["crash"]


SCORES = st.sampled_from([0.0, 0.1, 1 / 3, 0.7, 0.9, 1.0]) | st.floats(0, 1)
NAMES = st.sampled_from("abc")
NOW: st.SearchStrategy[Validator] = st.builds(Scripted, st.booleans(), SCORES, NAMES)
LEAVES = NOW | st.builds(Later, st.booleans(), SCORES, NAMES)


def trees_of(trees: st.SearchStrategy[Validator]) -> st.SearchStrategy[Validator]:
    parts = st.lists(trees, min_size=1, max_size=3)
    return st.one_of(
        parts.map(lambda each: all_of(*each)),
        parts.map(lambda each: any_of(*each)),
    )


TREES = st.recursive(LEAVES, trees_of, max_leaves=8)


def run(validator: Validator) -> ValidationResult:
    return anyio.run(outcome, validator)


@pytest.mark.slow
@given(st.lists(TREES, min_size=1, max_size=3))
def test_and_is_the_minimum_and_or_the_maximum(trees: list[Validator]) -> None:
    results = [run(tree) for tree in trees]
    both, either = run(all_of(*trees)), run(any_of(*trees))
    assert both.passed == all(result.passed for result in results)
    assert either.passed == any(result.passed for result in results)
    assert both.score == min(result.score for result in results)
    assert either.score == max(result.score for result in results)


@pytest.mark.slow
@given(TREES, TREES, TREES)
def test_operators_and_functions_say_the_same(a: Validator, b: Validator, c: Validator) -> None:
    assert isinstance(a, Composable)
    assert (a & b) & c == all_of(a, b, c)
    assert (a | b) | c == any_of(a, b, c)
