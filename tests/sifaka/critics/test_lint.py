"""The critic for mechanics."""

import pytest

from sifaka.critics.lint import LintCritic
from sifaka.record.thought import Thought

pytestmark = pytest.mark.anyio

BAD = "We recieve a apple , in order to eat it. The the rest is is fine."
GOOD = "We get an apple to eat. The rest of it is fine with us."


async def test_safe_mistakes_ask_for_a_revision() -> None:
    feedback = await LintCritic().critique(Thought(text=BAD))
    assert feedback.critic == "lint"
    assert feedback.status == "ok"
    assert feedback.verdict == "revise"
    assert feedback.issues
    assert feedback.confidence == 0.95
    assert feedback.usage.model_calls == 0


async def test_a_good_text_is_accepted() -> None:
    feedback = await LintCritic().critique(Thought(text=GOOD))
    assert feedback.verdict == "accept"
    assert (feedback.issues, feedback.degraded) == ((), ())
    assert feedback.scores == {"mechanics": 1.0}
    # Rules see only some kinds of mistakes: silence is weak evidence.
    assert feedback.confidence is not None
    assert feedback.confidence < 0.7


async def test_grave_mistakes_ask_for_a_revision_and_matters_of_taste_do_not() -> None:
    feedback = await LintCritic().critique(Thought(text="I seen him there without you."))
    assert feedback.verdict == "revise"
    assert not any(issue.safe for issue in feedback.issues)
    text = "In order to be clear, it is basically the same as before. " + "We saw the dog " * 11
    feedback = await LintCritic().critique(Thought(text=f"{text.strip()}."))
    assert feedback.verdict == "accept"
    assert feedback.issues == ()


async def test_suggestions_are_distinct_and_few() -> None:
    feedback = await LintCritic().critique(Thought(text="We saw a apple there . " * 30))
    assert len(feedback.suggestions) == len(set(feedback.suggestions)) == 2
    assert all(len(line) < 120 for line in feedback.suggestions)
    assert feedback.scores["mechanics"] == 0.0


async def test_of_thousands_of_mistakes_a_thousand_are_listed_and_the_others_counted() -> None:
    feedback = await LintCritic().critique(Thought(text="He eat teh apple. " * 1_000))
    assert len(feedback.issues) == 1_000
    assert feedback.degraded[-1] == "mechanics: 1,000 more issues are not listed"
    assert feedback.scores == {"mechanics": 0.0}
