"""The exit code of a run."""

import pytest

from sifaka.chain import RunResult
from sifaka.record.entries import (
    Decided,
    Decision,
    Drafted,
    Started,
    Stopped,
    StopReason,
    Validated,
)
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka_mcp.cli.process import finish


def ended(reason: StopReason, *, passed: bool) -> RunResult:
    run = Run.start(Started(prompt=""))
    thought = Thought(run_id=run.run_id, prompt="write", text="One.")
    verdict = ValidationResult(validator="length", passed=passed, message="")
    for entry in (
        Drafted(thought=thought),
        Validated(thought_id=thought.id, results={"length": verdict}),
        Decided(thought_id=thought.id, decision=Decision(accepted=True, note="the first")),
        Stopped(status="done", stop_reason=reason),
    ):
        run = run.apply(entry)
    return RunResult(run=run)


@pytest.mark.parametrize("reason", ["passed", "max_iterations", "stalled", "budget_calls"])
def test_a_run_that_is_done_is_0_when_its_text_passes_whatever_ended_it(
    reason: StopReason, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finish(ended(reason, passed=True), as_json=True) == 0
    assert finish(ended(reason, passed=False), as_json=True) == 1
