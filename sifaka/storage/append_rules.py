"""What every store decides about an append, wherever it keeps its runs."""

from collections.abc import Sequence

from sifaka.errors import Fenced, VersionConflict


def check_append(
    run_id: str, *, fence: int | None, current: int, expected: int, found: int
) -> None:
    """Refuse an append that comes too late.

    Args:
        run_id: What is appended to.
        fence: The claim under which somebody appends; None for what anybody may append.
        current: The last claim that was given out.
        expected: How many entries they think there are.
        found: How many there are.

    Raises:
        Fenced: Somebody has claimed the run since.
        VersionConflict: There is another number of entries.
    """
    if fence is not None and fence < current:
        raise Fenced(run_id, fence=fence, current=current)
    if found != expected:
        raise VersionConflict(run_id, expected=expected, found=found)


def holds(held: Sequence[str], payloads: Sequence[str], *, after: int) -> bool:
    """Whether an append is there already, entry for entry, behind the first so many."""
    end = after + len(payloads)
    return len(held) >= end and tuple(held[after:end]) == tuple(payloads)
