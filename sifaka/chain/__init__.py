"""The chain: a configured refinement, the engine that works on its runs, and their results."""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later

if TYPE_CHECKING:
    from sifaka.chain.cancellation import CancelEntry, append_outside, cancel_run, is_interrupted
    from sifaka.chain.chain import Chain, create_pydantic_chain
    from sifaka.chain.configuration import ChainOptions, CommonOptions, TaskOptions, asks_a_provider
    from sifaka.chain.handle import RunHandle
    from sifaka.chain.human_choice import choose_version, decline_issue
    from sifaka.chain.recorder import follow_run
    from sifaka.chain.replay import Replay
    from sifaka.chain.result import RunResult
    from sifaka.chain.review import Review
    from sifaka.chain.submission import Submission
    from sifaka.record.run import Listener

_PLACES = {
    "Chain": "sifaka.chain.chain",
    "ChainOptions": "sifaka.chain.configuration",
    "CommonOptions": "sifaka.chain.configuration",
    "Listener": "sifaka.record.run",
    "CancelEntry": "sifaka.chain.cancellation",
    "Replay": "sifaka.chain.replay",
    "Review": "sifaka.chain.review",
    "RunHandle": "sifaka.chain.handle",
    "RunResult": "sifaka.chain.result",
    "Submission": "sifaka.chain.submission",
    "TaskOptions": "sifaka.chain.configuration",
    "asks_a_provider": "sifaka.chain.configuration",
    "choose_version": "sifaka.chain.human_choice",
    "cancel_run": "sifaka.chain.cancellation",
    "decline_issue": "sifaka.chain.human_choice",
    "create_pydantic_chain": "sifaka.chain.chain",
    "follow_run": "sifaka.chain.recorder",
    "is_interrupted": "sifaka.chain.cancellation",
    "append_outside": "sifaka.chain.cancellation",
}
"""A server works on no run before its client has the tools: it is not made to wait for this."""

__all__ = [
    "CancelEntry",
    "Chain",
    "ChainOptions",
    "CommonOptions",
    "Listener",
    "Replay",
    "Review",
    "RunHandle",
    "RunResult",
    "Submission",
    "TaskOptions",
    "append_outside",
    "asks_a_provider",
    "cancel_run",
    "choose_version",
    "create_pydantic_chain",
    "decline_issue",
    "follow_run",
    "is_interrupted",
]

__getattr__ = imported_later(__name__, _PLACES)
