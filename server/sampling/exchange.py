"""How the host of one request can be asked, whatever the era."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from mcp.server.mcpserver import Context
from mcp_types import InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from server.sampling.messages import answer_of, request_of
from server.sampling.pushed import PushedQuestions
from server.sampling.rounds import MOST_ROUNDS, Rounds
from sifaka.errors import ModelProviderError
from sifaka.hosts import Host, HostAnswer, Suspended

_Answers = Mapping[str, HostAnswer | ModelProviderError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What passes between us and the host of one request."""

    host: Host | None = None
    """Asks the host's model; None when the client offers none that it can be asked now."""
    run_id: str | None = None
    """The run that an earlier round of this request has begun."""
    _round: int = 0
    _kept: Mapping[str, HostAnswer] = field(default_factory=dict[str, HostAnswer])
    """Answers of earlier rounds, where no run's journal keeps them."""

    @classmethod
    def of(cls, ctx: Context[Any, Any]) -> Self:
        """The exchange that a request belongs to."""
        capabilities = ctx.client_capabilities
        if capabilities is None or capabilities.sampling is None:
            return cls()
        if ctx.session.can_send_request:
            return cls(host=PushedQuestions(ctx.session))
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return cls()  # there is no way back over HTTP without sessions
        # Sealed by us when it left, and checked when it came back.
        state = json.loads(ctx.request_state or "{}")
        number = int(state.get("round", 0))
        kept = {key: HostAnswer(**answer) for key, answer in state.get("answers", {}).items()}
        brought = _brought(ctx)
        return cls(
            host=Rounds({**kept, **brought}, last=number >= MOST_ROUNDS),
            run_id=state.get("run"),
            _round=number,
            _kept={**kept, **{k: a for k, a in brought.items() if isinstance(a, HostAnswer)}},
        )

    def ask(self, waiting: Suspended, *, run_id: str | None = None) -> InputRequiredResult:
        """What makes the client ask its model, and come back.

        Args:
            waiting: What there is to ask.
            run_id: The run to go on with then. Without one, the answers travel along.
        """
        state: dict[str, object] = {"round": self._round + 1}
        if run_id is not None:
            state["run"] = run_id
        else:
            state["answers"] = {key: a.model_dump() for key, a in self._kept.items()}
        return InputRequiredResult(
            input_requests={key: request_of(q) for key, q in waiting.questions.items()},
            request_state=json.dumps(state),
        )


def _brought(ctx: Context[Any, Any]) -> _Answers:
    answers: dict[str, HostAnswer | ModelProviderError] = {}
    for key, result in (ctx.input_responses or {}).items():
        try:
            answers[key] = answer_of(result)
        except ModelProviderError as error:
            answers[key] = error
    return answers
