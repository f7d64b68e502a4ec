"""Asks the host of one request, in either era of the protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from mcp.server.mcpserver import Context
from mcp_types import InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sifaka.calls.host import Host, HostAnswer, HostQuestion, Suspended, Unreachable
from sifaka.models import HOST
from sifaka.record.thought import new_run_id
from sifaka_mcp.host.messages import answer_of, request_of
from sifaka_mcp.host.pushed import PushedQuestions

MOST_ROUNDS = 10
"""Rounds after which clients give up on a call, in all known SDKs."""
LARGEST_STATE = 1_000_000
"""Characters of answers that travel along with a request; further questions are not asked then."""


class _Rounds:
    """The era of 2026-07-28: the tool answers with its questions, and is called again with answers.

    Args:
        answers: By the keys of their questions.
        closed: Why there cannot be another round; None when there can.
    """

    def __init__(self, answers: Mapping[str, HostAnswer], *, closed: str | None) -> None:
        self._answers = answers
        self._closed = closed

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The answer that was brought; see `Host`."""
        answer = self._answers.get(key)
        if answer is not None:
            return answer
        if self._closed is not None:
            return await Unreachable(f"{HOST}: {self._closed}").ask(key, question)
        raise Suspended({key: question})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The questions to the host of one request, and its answers."""

    host: Host | None = None
    """Asks the host's model; None when the client offers none that it can be asked now."""
    run_id: str | None = None
    """The run that an earlier round of this request has begun."""
    review_id: str = field(default_factory=new_run_id)
    """The id of a request without a run: a secret, the same in all its rounds."""
    _round: int = 0
    _answers: Mapping[str, HostAnswer] = field(default_factory=dict[str, HostAnswer])
    """Those of this round; where no run's journal keeps them, those of earlier ones too."""

    @classmethod
    def of(cls, ctx: Context[Any, Any]) -> Self:
        """The exchange that a request belongs to.

        Answers to what was not asked in the last round are ignored; what was asked and not answered
        is asked again when it is needed.

        Raises:
            ConfigurationError: An answer is not one of a model in words.
        """
        capabilities = ctx.client_capabilities
        samples = capabilities is not None and capabilities.sampling is not None
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            # There is no way back over HTTP without sessions.
            reachable = samples and ctx.session.can_send_request
            return cls(host=PushedQuestions(ctx.session) if reachable else None)
        # Sealed by us when it left, and checked when it came back.
        state = json.loads(ctx.request_state or "{}")
        brought = ctx.input_responses or {}
        answers = {
            **{key: HostAnswer(**answer) for key, answer in state.get("answers", {}).items()},
            **{key: answer_of(brought[key]) for key in state.get("asked", ()) if key in brought},
        }
        number, run_id = state.get("round", 0), state.get("run")
        closed = _closed(number, answers if run_id is None else {})
        return cls(
            host=_Rounds(answers, closed=closed) if samples else None,
            run_id=run_id,
            review_id=state.get("review") or new_run_id(),
            _round=number,
            _answers=answers,
        )

    def ask(self, waiting: Suspended, *, run_id: str | None = None) -> InputRequiredResult:
        """The result with which the client asks its model and calls again.

        Args:
            waiting: What there is to ask.
            run_id: The run to go on with then. Without one, the answers travel along.
        """
        state: dict[str, object] = {"round": self._round + 1, "asked": list(waiting.questions)}
        if run_id is not None:
            state["run"] = run_id
        else:
            state["review"] = self.review_id
            state["answers"] = {key: a.model_dump() for key, a in self._answers.items()}
        return InputRequiredResult(
            input_requests={key: request_of(q) for key, q in waiting.questions.items()},
            request_state=json.dumps(state),
        )


def _closed(rounds: int, carried: Mapping[str, HostAnswer]) -> str | None:
    """The reason why there is no other round; None when there can be one."""
    if rounds >= MOST_ROUNDS:
        return f"clients ask their model {MOST_ROUNDS} times for one call, and no more"
    if sum(len(answer.text) + len(answer.model) for answer in carried.values()) > LARGEST_STATE:
        return f"its answers are longer than {LARGEST_STATE:,} characters together"
    return None
