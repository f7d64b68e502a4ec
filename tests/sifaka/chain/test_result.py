"""The values that a run's result shows to a program and to a reader."""

import pytest

from sifaka import Chain, Issue, LengthValidator, ValidationResult, improve
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedCritic

pytestmark = pytest.mark.anyio

TEXT = "Our tool is the the best. " * 8


class NoPlace:
    """A validator that fails and points at no place."""

    name = "tone"
    required = True

    def validate(self, thought: Thought) -> ValidationResult:
        return ValidationResult(passed=False, message="too loud")


async def test_changes_are_the_hunks_that_change_something_with_their_reasons() -> None:
    result = await improve("This is is it.", critics=["lint"])
    assert [(hunk.op, hunk.before, hunk.reason) for hunk in result.changes] == [
        ("delete", " is", '"is" is repeated')
    ]
    assert [hunk for hunk in result.diff if hunk.op != "equal"] == list(result.changes)


async def test_what_is_left_are_the_issues_of_failed_validators_and_of_critics_once() -> None:
    objects = ScriptedCritic(objects_to=lambda _: True, name="no")
    too_long = LengthValidator(max_words=5)
    result = await Chain(validators=[too_long, NoPlace()], critics=[objects, objects]).run(
        text=TEXT
    )
    left = {issue.message: (issue.support, issue.severity) for issue in result.left}
    length = result.validation_results[0].issues[0].message
    assert left == {length: (1, 3), "tone: too loud": (1, 5), "not what was wanted": (2, 3)}


async def test_nothing_is_left_of_a_text_that_passes() -> None:
    result = await improve("This is it.", validators=[LengthValidator(max_words=5)])
    assert (result.rules_met, result.left) == (True, ())


async def test_the_repr_of_a_result_is_one_short_line() -> None:
    rule = {"type": "content", "required": ["30 days"]}
    result = await Chain(validators=[rule]).run(text=TEXT)
    told = repr(result)
    assert told.startswith(f"RunResult(run_id='{result.run_id}', status='needs_revision'")
    assert "text='Our tool is the best. Our tool is the..." in told
    assert f"{result}" == told
    parts = (told, repr(result.run), repr(result.thought), repr(result.validation_results[0]))
    for each in parts:
        assert "\n" not in each
        assert len(each) < 500


def test_the_repr_of_a_value_leaves_out_what_is_empty_or_the_default() -> None:
    assert repr(Issue(message="odd", severity=3)) == "Issue(message='odd')"
    long = ValidationResult(passed=False, message="x" * 90, suggestions=("a", "b"))
    told = f"ValidationResult(passed=False, message='{'x' * 37}...', score=0.0, suggestions=<2>)"
    assert repr(long) == told
