"""Verdicts: what was checked, what was not, what is left, and what somebody decides about it."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from sifaka import Chain, RunResult, max_words
from sifaka.chain import choose_version, decline_issue
from sifaka.errors import ConfigurationError, StaleRevision, ThoughtNotFound
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage
from sifaka.tasks import critique, validate
from sifaka.testing import ScriptedCritic, ScriptedModel
from sifaka.validators import ClassifierValidator

pytestmark = pytest.mark.anyio

WRONG = "The blue parcel came. The green parcel went."
HALF = "The white parcel came. The green parcel went."
RIGHT = "The white parcel came. The grey parcel went."
FRENCH = "Ceci est un texte en français. Nous ne pouvons pas le lire avec les règles de l'anglais."
TYPO = "The parcel was recieved on Monday."
MISTAKES = ("blue", "green", "pink")


class Spotter:
    """A critic of mechanics that reports some words and is content all the same."""

    name = "spotter"

    async def critique(self, thought: Thought) -> CriticFeedback:
        """An issue for each of the words."""
        text = thought.text
        found = [(text.index(word), word) for word in MISTAKES if word in text]
        issues = tuple(
            Issue.at(text, at, at + len(word), "a wrong colour", category="spelling", severity=2)
            for at, word in found
        )
        return CriticFeedback(critic=self.name, verdict="accept", issues=issues, judges_task=False)


CONTENT = ScriptedCritic(objects_to=lambda _: False)


def quotes(result: RunResult) -> list[str]:
    return [issue.quote for issue in result.left]


def not_checked(result: RunResult) -> list[str]:
    return [check.what for check in result.checked if not check.done]


async def waiting(text: str = WRONG, **options: Any) -> tuple[Chain, RunResult]:
    chain = Chain(critics=[Spotter()], own_review=False, **options)
    result = await chain.run(text=text)
    assert (result.status, result.passed) == ("needs_revision", False)
    return chain, result


async def test_a_mistake_is_put_to_the_caller_once_and_then_it_decides() -> None:
    chain, before = await waiting()
    result = await chain.submit(before.run_id, before.thought.id, HALF)
    assert (result.status, result.stop_reason, result.passed) == ("done", "passed", True)
    assert result.judged_by == "caller"
    assert quotes(result) == ["green"]


async def test_a_mistake_that_is_new_is_told_and_keeps_no_version_of_the_caller_out() -> None:
    chain, before = await waiting()
    other = RIGHT.replace("grey", "pink")
    result = await chain.submit(before.run_id, before.thought.id, other)
    assert (result.status, result.accepted) == ("done", True)
    assert quotes(result) == ["pink"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"accept": True}, ""),
        ({"accept": True, "reason": "it is dialect"}, "it is dialect"),
        ({"text": WRONG, "reason": "it is dialect"}, "it is dialect"),
        ({"text": WRONG}, ""),
    ],
)
async def test_the_caller_may_decline_what_is_left(options: dict[str, Any], reason: str) -> None:
    chain, before = await waiting()
    for _ in range(2):  # said twice, it is taken once
        result = await chain.submit(before.run_id, before.thought.id, **options)
        assert (result.status, result.stop_reason) == ("done", "accepted")
        assert (result.passed, result.accepted, result.left) == (True, True, ())
        assert (result.text, result.reason.endswith(reason)) == (WRONG, True)
    stored = await chain.store.load(before.run_id)
    assert (stored.declined, len(stored.thoughts)) == ({before.thought.id: reason}, 1)


async def test_a_revision_may_decline_what_it_leaves() -> None:
    chain, before = await waiting()
    result = await chain.submit(before.run_id, before.thought.id, HALF, reason="it is green")
    assert (result.status, result.stop_reason, result.passed) == ("done", "accepted", True)
    assert (result.text, result.left) == (HALF, ())


async def test_what_is_declined_is_no_validator() -> None:
    chain, before = await waiting(validators=[{"type": "length", "max_words": 3}])
    result = await chain.submit(before.run_id, before.thought.id, accept=True)
    assert (result.status, result.stop_reason, result.passed) == ("done", "accepted", False)
    assert [issue.category for issue in result.left] == ["length"]


async def test_accepting_another_text_or_what_is_done_is_an_error_that_changes_nothing() -> None:
    chain, before = await waiting()
    with pytest.raises(ConfigurationError, match="another text"):
        await chain.submit(before.run_id, before.thought.id, RIGHT, accept=True)
    assert (await chain.store.load(before.run_id)) == before.run
    done = await chain.run(text=RIGHT)
    with pytest.raises(ConfigurationError, match="does not wait"):
        await chain.submit(done.run_id, done.thought.id, accept=True)


async def test_the_editor_alone_passes_nothing_that_is_known_to_be_wrong() -> None:
    result = await Chain(model="editor", critics=[Spotter()]).run(text=WRONG)
    assert (result.status, result.stop_reason, result.passed) == ("done", "no_safe_edit", False)
    assert quotes(result) == ["blue", "green"]


async def test_a_text_that_was_not_looked_at_is_not_passed() -> None:
    result = await Chain().run(text=FRENCH)
    assert (result.status, result.stop_reason, result.passed) == ("done", "rules_met", False)
    assert not_checked(result) == ["lint", "meaning"]
    assert "not in English" in (result.checked[0].reason or "")
    short = await Chain(validators=[{"type": "length", "max_words": 50}]).run(text=FRENCH)
    assert (short.stop_reason, short.passed) == ("rules_met", False)
    assert not_checked(short) == ["lint", "meaning"]


async def test_a_run_without_validators_and_critics_checks_nothing() -> None:
    chain = Chain(model=ScriptedModel(lines=["a b"]), critics=[])
    result = await chain.run("write two letters")
    assert (result.stop_reason, result.passed) == ("unchecked", False)
    assert not_checked(result) == ["task", "meaning"]


async def test_lint_does_not_vote_on_what_it_cannot_read() -> None:
    for text in (FRENCH, '{"a": "he go"}'):
        review = await critique(text)
        assert (review.verdict, review.degraded) == (None, ())
        assert "not checked" in (review.feedback[0].reason or "")
    review = await critique(f"{RIGHT} {RIGHT}\n\n{FRENCH}")
    assert review.verdict is None
    assert "not in English" in review.degraded[0]


async def test_the_editor_comes_before_the_first_critic() -> None:
    seen: list[str] = []

    def objects(text: str) -> bool:
        seen.append(text)
        return False

    store = MemoryStorage()
    chain = Chain(
        model=ScriptedModel(lines=[]), critics=[ScriptedCritic(objects_to=objects)], store=store
    )
    result = await chain.run(text=TYPO)
    assert seen == ["The parcel was received on Monday."]
    assert [t.author for t in result.run.thoughts] == ["input", "editor"]
    assert (result.text, result.stop_reason, result.passed) == (seen[0], "passed", True)
    assert [hunk.reason for hunk in result.changes] == ['"recieved" should be "received"']
    assert (await chain.replay(result.run_id)).exact


async def test_a_models_versions_are_edited_before_they_are_judged() -> None:
    model = ScriptedModel(lines=["The parcel has been recieved by us."])
    critic = ScriptedCritic(objects_to=lambda text: "was" in text)
    chain = Chain(model=model, critics=[critic])
    result = await chain.run(text="The parcel was here.")
    assert result.text == "The parcel has been received by us."
    assert result.thought.author == "scripted"
    (edit,) = cast("Sequence[Mapping[str, object]]", result.thought.metadata["edits"])
    assert (edit["rule"], edit["before"], edit["after"]) == ("misspelling", "recieved", "received")
    assert (await chain.replay(result.run_id)).exact


async def test_an_edit_that_costs_a_required_validator_is_not_made() -> None:
    rule = {"type": "content", "required": ["recieved"]}
    result = await Chain(model=ScriptedModel(lines=[]), critics=[CONTENT], validators=[rule]).run(
        text=TYPO
    )
    assert (result.text, result.stop_reason) == (TYPO, "passed")
    assert result.thought.critic_feedback, "the critics were asked about the text that stays"
    written = Chain(model=ScriptedModel(lines=[TYPO]), critics=[CONTENT], validators=[rule])
    assert (await written.run("say that it came")).text == TYPO


async def test_fixes_may_be_left_out() -> None:
    chain = Chain(model=ScriptedModel(lines=[TYPO]), critics=[CONTENT], fixes="none")
    assert (await chain.run("say that it came")).text == TYPO
    assert (await chain.run(text=TYPO)).text == TYPO
    assert (await Chain(fixes="none").run(text=TYPO)).run.thoughts[-1].author == "input"
    with pytest.raises(ConfigurationError, match="fixes"):
        Chain(model="editor", fixes="none")


async def test_preserve_needs_an_original() -> None:
    with pytest.raises(ConfigurationError, match="preserve"):
        await validate("It costs 6 dollars.", [{"type": "preserve"}])
    with pytest.raises(ConfigurationError, match="preserve"):
        await Chain(model=ScriptedModel(lines=[]), validators=[{"type": "preserve"}]).run("write")


@pytest.mark.parametrize(
    "wrapped", [f"```\n{RIGHT}\n```", f"```markdown\n{RIGHT}\n```\n", f"~~~md\n{RIGHT}\n~~~"]
)
async def test_a_revision_in_a_code_fence_is_unwrapped(wrapped: str) -> None:
    chain, before = await waiting()
    result = await chain.submit(before.run_id, before.thought.id, wrapped)
    assert (result.text, result.accepted) == (RIGHT, True)


async def test_a_validator_that_cannot_read_the_language_has_checked_nothing() -> None:
    rude = ClassifierValidator.model_validate({"name": "toxicity"})
    result = await Chain(validators=[rude], critics=[]).run(text="你是个白痴，我们不会忘记的。")
    assert "classifier:toxicity" in not_checked(result)
    (check,) = [each for each in result.checked if each.what == "classifier:toxicity"]
    assert "reads as 'zh'" in (check.reason or "")


async def decline(chain: Chain, told: RunResult, issue: Issue, reason: str = "Ours.") -> RunResult:
    about = (told.run_id, told.thought.id, issue.message, issue.quote)
    return await decline_issue(chain, *about, reason=reason)


async def test_one_issue_is_declined_and_the_others_are_asked_for() -> None:
    chain, before = await waiting()
    assert quotes(before) == ["blue", "green"]
    told = await decline(chain, before, before.left[0], "The parcel is blue.")
    assert (told.status, told.passed, quotes(told)) == ("needs_revision", False, ["green"])
    assert told.brief is not None
    assert [issue.quote for issue in told.brief.issues] == ["green"]
    (entry,) = told.run.declined_issues
    assert (entry.reason, entry.issue) == ("The parcel is blue.", before.left[0])
    again = await decline(chain, told, before.left[0])
    assert again.run == told.run == await chain.store.load(told.run_id)


async def test_what_was_declined_stays_declined_in_later_versions() -> None:
    chain, before = await waiting()
    told = await decline(chain, before, before.left[0])
    text = "Listen: the blue parcel came. The grey parcel went."
    later = await chain.submit(told.run_id, told.thought.id, text)
    assert (later.text, later.status, later.passed, later.left) == (text, "done", True, ())
    assert (await chain.replay(told.run_id)).differences == ()
    mine = await choose_version(chain, told.run_id, told.thought.id, "A blue parcel, and no other.")
    assert mine.left == ()


async def test_a_run_ends_when_its_last_issue_is_declined() -> None:
    chain, told = await waiting()
    for issue in told.left:
        assert not told.passed
        told = await decline(chain, told, issue)
    assert (told.status, told.stop_reason, told.passed) == ("done", "accepted", True)
    assert (told.left, told.text) == ((), WRONG)


async def test_a_task_that_was_not_carried_out_is_not_done_by_declining_a_word() -> None:
    chain, told = await waiting(prompt="Say where the parcels went.")
    for issue in told.declinable:
        told = await decline(chain, told, issue)
    assert (told.status, told.passed) == ("needs_revision", False)
    assert told.brief is not None
    assert (told.left, told.judged_by) == ((), "nobody")


async def test_what_a_rule_refuses_or_no_critic_said_cannot_be_declined() -> None:
    chain, told = await waiting(validators=[max_words(3)])
    failure = next(issue for issue in told.left if issue not in told.declinable)
    blue = told.declinable[0]
    for wrong, reason in ((failure, "No."), (Issue(message="no such"), "No."), (blue, " ")):
        with pytest.raises(ConfigurationError):
            await decline(chain, told, wrong, reason)
    assert (await chain.store.load(told.run_id)) == told.run


TEXT = "This is the the first version, by 40 teams."


async def told(model: str = "editor", text: str = TEXT) -> tuple[Chain, RunResult]:
    """A run in which nobody has chosen yet."""
    chain = Chain(model=model, validators=[max_words(9)])
    return chain, await chain.run(text=text)


async def test_other_words_become_a_version_of_a_person_that_stands() -> None:
    chain, done = await told()
    text = "This is the first version, by 400 teams and by more than these."
    chosen = await choose_version(chain, done.run_id, done.thought.id, text)
    assert (chosen.text, chosen.thought.author, chosen.status) == (text, "person", "done")
    assert chosen.judged_by == "person"
    assert not chosen.findings.open
    assert chosen.thought.parent_id == done.thought.id
    decision = chosen.run.decisions[chosen.thought.id]
    assert decision.accepted
    assert "a person said so, although it breaks" in decision.reason
    assert "length: 13 words" in decision.reason
    changed = [d for d in chosen.thought.findings.differences if d.status == "accepted"]
    assert {each.by for each in changed} == {"person"}, "who said so has answered what differs"
    assert not chosen.passed
    assert chosen.run.usage.model_calls == 0
    assert (await chain.store.load(done.run_id)) == chosen.run


async def test_an_earlier_version_is_used_again_and_what_is_left_is_declined() -> None:
    chain, done = await told()
    first = done.run.thoughts[0]
    chosen = await choose_version(chain, done.run_id, first.id, reason="It is a quotation.")
    assert chosen.thought.id == first.id
    assert chosen.run.declined[first.id] == "It is a quotation."
    assert len(chosen.run.thoughts) == len(done.run.thoughts)


async def test_the_same_choice_made_twice_is_stored_once() -> None:
    chain, done = await told()
    once, twice = [
        await choose_version(chain, done.run_id, done.thought.id, "Other words.") for _ in range(2)
    ]
    same = await choose_version(chain, done.run_id, once.thought.id)
    assert once.run == twice.run == same.run


async def test_a_run_that_waits_ends_with_the_choice() -> None:
    chain, before = await told("caller", f"{TEXT} It has far too many words for that.")
    assert before.status == "needs_revision"
    chosen = await choose_version(chain, before.run_id, before.thought.id)
    assert (chosen.status, chosen.stop_reason) == ("done", "accepted")
    with pytest.raises((ConfigurationError, StaleRevision)):
        await chain.submit(before.run_id, before.thought.id, "A short text.")


async def test_a_replay_repeats_what_came_before_a_person() -> None:
    for text, reason in (("Other words.", ""), ("", "It is a quotation."), ("Others.", "Why not?")):
        chain, done = await told()
        assert (await choose_version(chain, done.run_id, done.thought.id, text, reason=reason)).run
        assert (await chain.replay(done.run_id)).differences == ()


async def test_what_cannot_be_chosen_is_refused() -> None:
    chain, done = await told()
    with pytest.raises(ThoughtNotFound):
        await choose_version(chain, done.run_id, f"{done.run_id}.9")
    handle = await chain.start("", text=TEXT)
    with pytest.raises(ConfigurationError, match="goes on"):
        await choose_version(chain, handle.run.run_id, handle.run.thoughts[0].id)
