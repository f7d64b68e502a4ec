from sifaka.chain.version_comparison import compare
from sifaka.record.results import CriticFeedback, Issue, ValidationResult, Verdict
from sifaka.record.thought import Thought

ORIGINAL = Thought(text="the original text of five")


def version(
    text: str = "some text",
    *,
    required: tuple[float, ...] = (),
    advisory: tuple[float, ...] = (),
    verdict: Verdict | None = None,
    severities: tuple[int, ...] = (),
    author: str = "scripted",
    prompt: str = "",
) -> Thought:
    thought = ORIGINAL.next_iteration().with_text(text, author=author, prompt=prompt)
    for n, score in enumerate(required):
        result = ValidationResult(passed=score == 1, score=score)
        thought = thought.add_validation_result(f"r{n}", result)
    for n, score in enumerate(advisory):
        result = ValidationResult(passed=score == 1, score=score, required=False)
        thought = thought.add_validation_result(f"a{n}", result)
    if verdict:
        issues = tuple(Issue.at(text, 0, 4, "x", severity=s) for s in severities)
        thought = thought.add_critic_feedback(
            CriticFeedback(critic="c", verdict=verdict, issues=issues)
        )
    return thought


def test_a_text_that_fails_a_required_validator_never_replaces_one_that_passes() -> None:
    good = version(required=(1,), verdict="revise", severities=(5, 5))
    bad = version(required=(0.99,), verdict="accept")
    assert not compare(bad, good, ORIGINAL).accepted


def test_fewer_failed_required_validators_win_over_being_nearer() -> None:
    one_far = version(required=(1, 0.1))
    two_near = version(required=(0.9, 0.9))
    assert compare(one_far, two_near, ORIGINAL).accepted


def test_nearer_to_passing_wins_when_as_many_fail() -> None:
    decision = compare(version(required=(0.6,)), version(required=(0.5,)), ORIGINAL)
    assert decision.accepted
    assert "distance from passing" in decision.reason


def test_advisory_validators_decide_before_the_critics() -> None:
    kept = version(advisory=(1,), verdict="revise")
    other = version(advisory=(0,), verdict="accept")
    assert not compare(other, kept, ORIGINAL).accepted


def test_acceptance_by_the_critics_wins_over_the_weight_of_issues() -> None:
    accepted = version(verdict="accept", severities=(3,))
    rejected = version(verdict="revise", severities=(1,))
    assert compare(accepted, rejected, ORIGINAL).accepted


def test_less_severe_issues_win() -> None:
    light = version(verdict="revise", severities=(1, 1))
    heavy = version(verdict="revise", severities=(5,))
    assert compare(light, heavy, ORIGINAL).accepted
    assert not compare(heavy, light, ORIGINAL).accepted


def test_issues_that_point_nowhere_do_not_weigh() -> None:
    vague = version(verdict="revise").add_critic_feedback(
        CriticFeedback(critic="d", verdict="revise", issues=(Issue(message="hm", severity=5),))
    )
    same = version(verdict="revise").add_critic_feedback(
        CriticFeedback(critic="d", verdict="revise")
    )
    assert not compare(vague, same, ORIGINAL).accepted
    assert not compare(same, vague, ORIGINAL).accepted


def test_smaller_changes_win_a_tie() -> None:
    near = version("the original text of six")
    far = version("something entirely different and long")
    assert compare(near, far, ORIGINAL).accepted
    assert not compare(far, near, ORIGINAL).accepted


def test_a_full_tie_keeps_the_champion() -> None:
    decision = compare(version("same"), version("same"), ORIGINAL)
    assert not decision.accepted
    assert "no better" in decision.reason


def test_the_editors_certain_edits_win_a_tie() -> None:
    edited = version("the original text of fives", author="editor")
    assert compare(edited, version(ORIGINAL.text), ORIGINAL).accepted


def test_a_version_written_for_a_task_that_no_critic_judged_wins_a_tie() -> None:
    rewritten = version("friendly words", prompt="make it friendly")
    champion = version(ORIGINAL.text, prompt="make it friendly")
    assert compare(rewritten, champion, ORIGINAL).accepted


def test_an_empty_text_never_wins() -> None:
    assert not compare(version("  "), version(required=(0.0,)), ORIGINAL).accepted


def test_a_version_that_no_critic_could_judge_never_beats_one_that_was_judged() -> None:
    silent = version().add_critic_feedback(CriticFeedback.abstain("c", "timeout"))
    for verdict in ("accept", "revise"):
        judged = version(verdict=verdict)
        assert not compare(silent, judged, ORIGINAL).accepted
        assert compare(judged, silent, ORIGINAL).accepted


def test_a_critic_that_abstains_on_one_version_weighs_for_neither() -> None:
    before = version(verdict="revise", severities=(1,)).add_critic_feedback(
        CriticFeedback(
            critic="flaky", verdict="revise", issues=(Issue.at("some text", 0, 4, "x", severity=5),)
        )
    )
    after = version(verdict="revise", severities=(2,)).add_critic_feedback(
        CriticFeedback.abstain("flaky", "error")
    )
    assert not compare(after, before, ORIGINAL).accepted, "its silence is no improvement"


def test_a_critic_of_the_task_that_abstains_does_not_open_the_door_to_ties() -> None:
    rewritten = version("friendly words", prompt="make it friendly").add_critic_feedback(
        CriticFeedback.abstain("judge", "timeout")
    )
    champion = version(ORIGINAL.text, prompt="make it friendly").add_critic_feedback(
        CriticFeedback.abstain("judge", "timeout")
    )
    assert not compare(rewritten, champion, ORIGINAL).accepted
