"""What the caller of a run that waits hands in."""

from typing import Any

from sifaka import Chain, RunResult
from sifaka.chain import Submission


async def submit(chain: Chain, waiting: RunResult, text: str = "", **options: Any) -> Submission:
    """Hand in a text for the version that the brief of a run is about."""
    assert waiting.brief is not None
    return await chain.submit(waiting.run_id, waiting.brief.parent_id, text, **options)
