import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.regex import MATCH_LIMIT, PATTERN_LIMIT, RegexValidator

pytestmark = pytest.mark.anyio

CATASTROPHIC = "(a|aa)+$"
TRAP = "a" * 40 + "!"


async def check(
    text: str, must_match: tuple[str, ...] = (), must_not_match: tuple[str, ...] = ()
) -> ValidationResult:
    spec = RegexValidator(must_match=must_match, must_not_match=must_not_match)
    return await spec.validate(Thought(text=text))


async def test_wanted_matches_pass_and_a_missing_one_is_told() -> None:
    result = await check("order 12", (r"\d+",), ("xyz",))
    assert result.passed
    assert result.message == "2 of 2 patterns as asked"
    result = await check("order", (r"\d+", "order"))
    assert result.message == "nothing matches '\\\\d+'"
    assert result.score == 0.5
    assert not result.issues[0].anchored


async def test_forbidden_matches_are_pointed_at_and_counted_to_a_limit() -> None:
    result = await check("😀 TODO and TODO", must_not_match=("TODO",))
    assert [(issue.start, issue.end) for issue in result.issues] == [(2, 6), (11, 15)]
    assert result.message == "2 matches of forbidden 'TODO'"
    scores = [(await check("x" * count, must_not_match=("x",))).score for count in range(4)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    result = await check("", must_not_match=("^$",))
    assert [(issue.start, issue.end) for issue in result.issues] == [(0, 0)]
    result = await check("x" * (MATCH_LIMIT + 5), must_not_match=("x",))
    assert "1000 or more" in result.message


async def test_a_catastrophic_pattern_ends() -> None:
    for pattern in ("(a+)+$", "(.*a){20}$", "(x+x+)+y"):
        assert not (await check(TRAP, (pattern,))).passed, pattern


async def test_a_pattern_that_takes_too_long_has_failed_and_the_event_loop_runs_on() -> None:
    ticks = 0
    results: list[ValidationResult] = []

    async def tick() -> None:
        nonlocal ticks
        while len(results) < 2:
            ticks += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        results.append(await check(TRAP, (CATASTROPHIC,)))
        results.append(await check(TRAP, (), (CATASTROPHIC,)))
    assert ticks > 100
    for result in results:
        assert not result.passed
        assert "took longer than 0.25 s" in result.message
        assert "simplify the pattern" in result.suggestions[0]


@pytest.mark.slow
async def test_many_slow_patterns_share_one_deadline() -> None:
    slow = tuple(f"(a|aa)+{digit:02}" for digit in range(30))
    result = await check("a" * 60, (*slow, "^a"))
    assert "'^a' took longer" in result.message, "its time was used up before its turn"


async def test_cancelling_does_not_wait_for_a_pattern() -> None:
    with anyio.move_on_after(0.01) as scope:
        await check(TRAP, (CATASTROPHIC,))
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", "missing ) at position 2"),
        ("[z-a]", "bad character range at position 4"),
        ("*", "nothing to repeat at position 0"),
        ("(?a)(?u)b", "mutually incompatible"),
        ("(" * 900 + ")" * 900, "nested too deeply"),
        ("", "a pattern is empty"),
        ("a" * (PATTERN_LIMIT + 1), f"at most {PATTERN_LIMIT}"),
    ],
)
def test_a_broken_pattern_is_refused_at_once(pattern: str, reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        RegexValidator(must_match=(pattern,))
    assert reason in str(caught.value)


def test_no_pattern_too_many_and_a_contradiction_are_refused() -> None:
    for must_match, must_not_match in (((), ()), (("a",) * 51, ()), (("a",), ("a",))):
        with pytest.raises(ValidationError):
            RegexValidator(must_match=must_match, must_not_match=must_not_match)


@settings(max_examples=20)
@given(st.text())
async def test_any_text_gets_a_result_with_spans_that_hold(text: str) -> None:
    result = await check(text, ("q",), (r"\w", r"\s*"))
    for issue in result.issues:
        if issue.anchored:
            assert text[issue.start : issue.end].startswith(issue.quote)


async def test_the_ends_of_a_pattern_are_those_of_a_line() -> None:
    long_line = await check(f"short\n{'x' * 73}\nshort", must_not_match=("^.{73,}$",))
    assert not long_line.passed
    assert [(each.start, each.end) for each in long_line.issues] == [(6, 79)]
    assert (await check("short\nshort", must_not_match=("^.{73,}$",))).passed
    assert (await check("Dear Ann,\nBest,\nTom", must_match=("^Best,$",))).passed
    assert not (await check("Dear Ann,\nBest", must_match=(r"\ABest",))).passed
