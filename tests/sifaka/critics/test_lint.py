"""The critic for mechanics."""

import pytest

from sifaka.critics.lint import LintCritic
from sifaka.editor import edit
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
    assert feedback.issues == ()
    assert feedback.scores == {"mechanics": 1.0}
    # Rules see only some kinds of mistakes: silence is weak evidence.
    assert feedback.confidence is not None
    assert feedback.confidence < 0.7


async def test_the_edited_text_is_accepted_and_scores_higher() -> None:
    before = await LintCritic().critique(Thought(text=BAD))
    after = await LintCritic().critique(Thought(text=edit(BAD).text))
    assert after.verdict == "accept"
    assert before.scores["mechanics"] < after.scores["mechanics"] <= 1.0


async def test_a_grave_mistake_without_a_safe_fix_asks_for_a_revision_too() -> None:
    feedback = await LintCritic().critique(Thought(text="I seen him there without you."))
    assert feedback.verdict == "revise"
    assert not any(issue.safe for issue in feedback.issues)


async def test_matters_of_taste_do_not() -> None:
    text = "In order to be clear, it is basically the same as before. " + "We saw the dog " * 11
    feedback = await LintCritic().critique(Thought(text=f"{text.strip()}."))
    assert feedback.verdict == "accept"
    assert feedback.issues == ()


async def test_suggestions_are_distinct_and_few() -> None:
    feedback = await LintCritic().critique(Thought(text="We saw a apple there . " * 30))
    assert len(feedback.suggestions) == len(set(feedback.suggestions)) == 2
    assert all(len(line) < 120 for line in feedback.suggestions)
    assert feedback.scores["mechanics"] == 0.0


CLEAN = [
    "The library opens at nine on weekdays and closes at six. On Saturdays it is open until "
    "noon, and volunteers read to children in the main hall. Membership is free for "
    "residents.",
    "We released version 3.2 of the client yesterday. It fixes two bugs that some customers "
    "had reported, and it starts noticeably faster on older phones. Nothing changes for "
    "existing accounts.",
    "Photosynthesis converts light into chemical energy. Chlorophyll absorbs mostly blue "
    "and red light, which is why leaves look green. The sugars it produces feed almost "
    "every organism on land.",
    "My grandmother kept bees behind the barn. Each June she would lift the frames one by "
    "one, humming to herself, and hand me a piece of comb wrapped in paper.",
    "To reset your password, open the settings page and choose Security. You will receive "
    "an email with a link; it expires after an hour. If it doesn't arrive, check your spam "
    "folder.",
    "The board approved the budget with seven votes to two. Spending on roads rises by four "
    "percent, while the parks department will have to make do with slightly less than last "
    "year.",
    "The parser reads one token at a time and keeps a stack of open brackets. When a "
    "closing bracket arrives, it is compared with the top of the stack; a mismatch raises "
    "an error.",
    "Rain fell all night. By morning the river had reached the lower meadow, and the sheep "
    "stood huddled on the only dry patch near the wall. Nobody in the village had slept "
    "much.",
    "Our study included 412 patients from six hospitals. Those who walked for at least "
    "thirty minutes a day reported better sleep, although the effect was small and may not "
    "be causal.",
    "Thank you for your letter of 4 May. We are sorry that the chair arrived damaged and "
    "have sent a replacement, which should reach you by Friday. You do not need to return "
    "the broken one.",
    "Kubernetes restarts a container whose probe fails. Set a generous initial delay, "
    "because a slow start otherwise looks like a crash and the pod never becomes ready.",
    "Whether the treaty was a success depends on whom you ask. Economists point to trade, "
    "which doubled; historians point to the unrest that followed within a decade.",
]


@pytest.mark.parametrize("text", CLEAN)
async def test_a_clean_paragraph_is_accepted(text: str) -> None:
    feedback = await LintCritic().critique(Thought(text=text))
    assert feedback.verdict == "accept"
    assert feedback.degraded == ()


async def test_of_thousands_of_mistakes_a_thousand_are_listed_and_the_others_counted() -> None:
    feedback = await LintCritic().critique(Thought(text="He eat teh apple. " * 1_000))
    assert len(feedback.issues) == 1_000
    assert feedback.degraded[-1] == "mechanics: 1,000 more issues are not listed"
    assert feedback.scores == {"mechanics": 0.0}
