"""The history of a research: what its loop has thought and searched for, for its agents."""

from sifaka.research.state import LoopState, Round

MOST = 6
"""Iterations that an agent is told of in full; of earlier ones the searches."""


def past_of(state: LoopState) -> str:
    """What earlier iterations have come to, oldest first."""
    older = len(state.rounds) - MOST
    return "\n\n".join(
        _told(one, in_full=number >= older) for number, one in enumerate(state.rounds)
    )


def _told(one: Round, *, in_full: bool) -> str:
    searched = "; ".join(task.query for task in one.tasks)
    numbers = ", ".join(str(finding.number) for finding in one.findings) or "none"
    lines = [f"Iteration {one.number}", f"Searched for: {searched}", f"New findings: {numbers}"]
    if in_full and one.observations:
        lines.insert(1, f"Observations: {one.observations}")
    return "\n".join(lines)
