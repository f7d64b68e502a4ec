"""Critics of other code: objects with `critique`, and plain functions."""

from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from sifaka import Chain
from sifaka.calls.component import Binding
from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.critics import FunctionCritic, LintCritic, SelfRefineCritic, as_critic, parse_critics
from sifaka.critics.execution import run_critics
from sifaka.errors import ConfigurationError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget, Usage
from tests.sifaka.critics.scripted_judge import ScriptedJudge

pytestmark = pytest.mark.anyio


def mentions_harbor(text: str) -> bool:
    return "Harbor" in text


def remarks(text: str) -> list[str]:
    return [f"do not say {word!r}" for word in ("simply", "just") if word in text]


async def later(text: str) -> str:
    await checkpoint()
    return "" if "Harbor" in text else "name the product"


async def heard(critic: Any, text: str) -> CriticFeedback:
    (feedback,) = await run_critics(
        parse_critics([critic]), Thought(text=text), Calls(ledger=Ledger(Budget(), Usage()))
    )
    return feedback


@pytest.mark.parametrize(
    ("function", "text", "messages"),
    [
        (mentions_harbor, "Harbor", []),
        (mentions_harbor, "It", ["mentions_harbor does not hold"]),
        (remarks, "It works", []),
        (remarks, "It simply just works", ["do not say 'simply'", "do not say 'just'"]),
        (later, "Harbor", []),
        (later, "It", ["name the product"]),
    ],
)
async def test_a_function_accepts_or_says_what_to_change(
    function: Any, text: str, messages: list[str]
) -> None:
    feedback = await heard(function, text)
    assert feedback.verdict == ("revise" if messages else "accept")
    assert [issue.message for issue in feedback.issues] == messages
    assert feedback.critic == function.__name__


async def test_feedback_of_a_function_is_kept_as_it_is() -> None:
    given = CriticFeedback(verdict="revise", suggestions=("cut it",))
    feedback = await heard(FunctionCritic(lambda _: given, name="mine"), "It")
    assert (feedback.critic, feedback.suggestions) == ("mine", ("cut it",))


@pytest.mark.parametrize("function", [len, str.encode])
async def test_what_a_function_must_not_return_is_an_abstention_that_says_so(function: Any) -> None:
    feedback = await heard(function, "It")
    assert feedback.status == "abstained"
    assert "returned" in (feedback.reason or "")
    assert "return True, False" in (feedback.reason or "")


def test_a_single_critic_needs_no_list() -> None:
    for given in ("lint", {"type": "lint"}, LintCritic()):
        assert parse_critics(given) == (LintCritic(),)
    (function,) = parse_critics(mentions_harbor)
    assert function.name == "mentions_harbor"
    assert [c.name for c in Chain(critics="self_refine").resources.critics] == ["self_refine"]


@pytest.mark.parametrize("given", [LintCritic, object()])
def test_what_is_no_critic_is_told_with_what_is(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"critics\[0\]: .* is not a critic"):
        parse_critics([given])


def test_a_misspelt_name_is_told_with_what_it_may_have_meant() -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_critics("self-refin")
    assert (error.value.suggestion or "").startswith("did you mean 'self_refine'? known critics:")


def test_a_wrapper_speaks_for_the_critic_inside_it() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    inside = SelfRefineCritic().bind(judge.binding)
    assert as_critic(inside) is inside

    class Named:
        name = "named"

        async def critique(self, thought: Thought) -> CriticFeedback:
            return CriticFeedback(verdict="accept")

    foreign = as_critic(Named())
    assert (foreign.metered, foreign.models, foreign.calls()) == (False, (), 0)
    assert foreign.claim_checks == ()
    assert foreign.bind(Binding()) is foreign
    assert foreign.spec() == {
        "type": "object",
        "class": f"{__name__}.{Named.__qualname__}",
        "name": "named",
    }


async def test_a_run_is_improved_by_functions_alone() -> None:
    chain = Chain(model="caller", validators=[mentions_harbor], critics=remarks)
    result = await chain.run(text="Harbor simply works.")
    assert result.status == "needs_revision"
    told = await chain.submit(result.run_id, result.thought.id, "Harbor works.")
    assert told.accepted
    assert told.run.passed
