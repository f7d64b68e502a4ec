"""One issue of several is declined, with its reason, and the others stay."""

import pytest

from sifaka import Chain, RunResult, max_words
from sifaka.chain import choose_version, decline_issue
from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue
from tests.sifaka.chain.test_verdicts import WRONG, quotes, waiting

pytestmark = pytest.mark.anyio


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
