import pytest

from sifaka.record.entries import (
    ChainConfig,
    Critiqued,
    Decided,
    Decision,
    Drafted,
    Entry,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget, Usage


def entries_of_a_run() -> list[Entry]:
    started = Started(prompt="p")
    first = Thought(run_id=started.run_id, prompt="p", text="one")
    second = first.next_iteration().with_text("two", history=())
    third = first.next_iteration(iteration=2).with_text("three", history=())
    entries: list[Entry] = [started]
    for thought, accepted in ((first, True), (second, False), (third, True)):
        entries += [
            Drafted(thought=thought, usage=Usage(model_calls=1, seconds=0.5)),
            Validated(thought_id=thought.id, results={"length": ValidationResult(passed=accepted)}),
            Critiqued(thought_id=thought.id, feedback=(CriticFeedback(critic="c"),)),
            Decided(thought_id=thought.id, decision=Decision(accepted=accepted, note="r")),
        ]
    return [*entries, Stopped(status="done", stop_reason="passed")]


def test_a_run_is_what_its_entries_amount_to() -> None:
    run = Run.replay(entries_of_a_run())
    assert [t.text for t in run.thoughts] == ["one", "two", "three"]
    assert run.champion is not None
    assert run.champion.text == "three"
    assert (run.status, run.stop_reason, run.iterations) == ("done", "passed", 2)
    assert run.usage == Usage(model_calls=3, seconds=1.5)
    assert run.version == 14


def test_history_follows_the_parents_and_is_not_stored_with_the_thoughts() -> None:
    run = Run.replay(entries_of_a_run())
    assert [r.iteration for r in run.thoughts[2].history] == [0]


def test_the_next_phase_follows_from_the_last_entry_and_a_stop_does_not_hide_it() -> None:
    entries = entries_of_a_run()
    assert Run.replay(entries[:3]).reached == "validated"
    stopped = Run.replay([*entries[:3], Stopped(status="cancelled", stop_reason="cancelled")])
    assert (stopped.status, stopped.reached) == ("cancelled", "validated")


def test_a_run_goes_on_when_an_entry_follows_a_stop() -> None:
    run = Run.replay([*entries_of_a_run()[:5], Stopped(status="failed", stop_reason="error")])
    again = run.apply(Drafted(thought=run.thoughts[0].next_iteration().with_text("new")))
    assert (again.status, again.stop_reason) == ("running", None)


def test_a_run_without_a_start_is_refused() -> None:
    with pytest.raises(ValueError, match="started"):
        Run.replay([])


def test_the_fingerprint_tells_configurations_apart() -> None:
    one = ChainConfig(validators=({"type": "length", "max_words": 3},))
    same = ChainConfig.model_validate_json(one.model_dump_json())
    other = ChainConfig(validators=({"type": "length", "max_words": 4},))
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint != ChainConfig(budget=Budget(max_calls=1)).fingerprint
