"""The chain: a configured refinement, the engine that works on its runs, and their results."""

from sifaka.chain.cancellation import (
    Parting,
    cancel_run,
    cancellation,
    interruption,
    is_interrupted,
    stop_run,
)
from sifaka.chain.chain import Chain
from sifaka.chain.events import follow_run
from sifaka.chain.handle import RunHandle
from sifaka.chain.options import ChainOptions, CommonOptions, TaskOptions
from sifaka.chain.pydantic_chain import create_pydantic_chain
from sifaka.chain.replay import Replay
from sifaka.chain.result import RunResult
from sifaka.chain.review import Review
from sifaka.chain.submission import Submission
from sifaka.chain.writers import asks_a_provider
from sifaka.record.events import Listener

__all__ = [
    "Chain",
    "ChainOptions",
    "CommonOptions",
    "Listener",
    "Parting",
    "Replay",
    "Review",
    "RunHandle",
    "RunResult",
    "Submission",
    "TaskOptions",
    "asks_a_provider",
    "cancel_run",
    "cancellation",
    "create_pydantic_chain",
    "follow_run",
    "interruption",
    "is_interrupted",
    "stop_run",
]
