"""Asks the host's model in either era of the protocol."""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import anyio
from mcp.server.mcpserver import Context
from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CONNECTION_CLOSED,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import Request

from sifaka.calls.host import Host, HostAnswer, HostQuestion, Suspended, Unreachable
from sifaka.errors import ConfigurationError, ModelProviderError, StorageError
from sifaka.models import HOST
from sifaka.record.thought import new_run_id
from sifaka_mcp.settings import Settings

MOST_ROUNDS = 10
"""Rounds after which clients give up on a call, in all known SDKs."""
KEY_HEADER, KEY_META = "idempotency-key", "sifaka.idempotency-key"
"""The names of an idempotency key, as a header field over HTTP and in `_meta` of a request."""
_LONGEST_KEY = 200
LARGEST_STATE = 1_000_000
"""Characters of answers that travel along with a request; further questions are not asked then."""
NO_WAY_BACK = f"{HOST}: over HTTP, where it keeps no sessions, this server cannot ask a client \
of a protocol before 2026-07-28; it can over stdio, or with SIFAKA_SESSIONS=on"
DECLINED = f"{HOST}: the client has come back without the answers that it was asked for"
PATIENCE = 300.0
"""Seconds: a person may have to allow each question."""
LIFETIME = 600.0
"""Seconds after which a client that comes back is too late."""
_KEY_FILE = "state.key"
"""In the home folder: the key that seals the state of a call."""


class InputRequired(Exception):
    """The client has to be asked first, and calls again with its answers."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__()
        self.result = result
        """The answer to the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The questions to the host of one request, and its answers."""

    host: Host | None = None
    """Asks the host's model; None when the client offers none that it can be asked now."""
    absent: Host | None = None
    """Says why it cannot be asked, where it is not the client that offers no sampling."""
    in_rounds: bool = False
    """True when its questions are answered by another call of the same tool."""
    run_id: str | None = None
    """The run that an earlier round of this request has begun."""
    keyed_run: str | None = None
    """The id of the run that this request's idempotency key stands for; None without a key. It goes
    on when its client leaves, who comes back with the key."""
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
            ConfigurationError: An answer is not one of a model in words, or the idempotency key
                cannot be used.
        """
        capabilities, keyed_run = ctx.client_capabilities, _find_keyed_run(ctx)
        samples = capabilities is not None and capabilities.sampling is not None
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            # There is no way back over HTTP without sessions.
            if not ctx.session.can_send_request:
                return cls(absent=Unreachable(NO_WAY_BACK), keyed_run=keyed_run)
            # The stream of a request over HTTP every client reads; many open no other.
            over_http = ctx.request_context.request is not None
            stream = ServerMessageMetadata(related_request_id=ctx.request_id) if over_http else None
            host = PushedQuestions(ctx.session, stream) if samples else None
            return cls(host=host, keyed_run=keyed_run)
        # Sealed by us when it left, and checked when it came back.
        state = json.loads(ctx.request_state or "{}")
        replies = ctx.input_responses or {}
        answers = {
            **{key: HostAnswer(**answer) for key, answer in state.get("answers", {}).items()},
            **{key: answer_of(replies[key]) for key in state.get("asked", ()) if key in replies},
        }
        number, run_id = state.get("round", 0), state.get("run")
        closed = _find_limit(number, answers if run_id is None else {})
        return cls(
            host=_Rounds(answers, closed) if samples else None,
            in_rounds=samples,
            run_id=run_id,
            keyed_run=keyed_run,
            review_id=state.get("review") or new_run_id(),
            _round=number,
            _answers=answers,
        )

    def ask(self, waiting: Suspended, *, run_id: str | None = None) -> InputRequired:
        """What is to be raised, so that the client asks its model and calls again.

        Args:
            waiting: What there is to ask.
            run_id: The run to go on with then. Without one, the answers travel along.
        """
        state: dict[str, object] = {"round": self._round + 1, "asked": list(waiting.questions)}
        if run_id is not None:
            state["run"] = run_id
        else:
            answers = {key: answer.model_dump() for key, answer in self._answers.items()}
            state |= {"review": self.review_id, "answers": answers}
        return InputRequired(
            InputRequiredResult(
                input_requests={key: request_of(q) for key, q in waiting.questions.items()},
                request_state=json.dumps(state),
            )
        )


@dataclass(eq=False)
class PushedQuestions:
    """Asks a host over the connection of a session while it is open, and not after a refusal.

    Args:
        session: The session.
        stream: Where the questions go, and for how long they can; None for the connection.
    """

    session: ServerSession
    stream: ServerMessageMetadata | None = None
    _refusal: str | None = None

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The host's answer; see `Host`. Who has left may come back, and go on with the work."""
        if self._refusal is not None:
            raise _make_error(self._refusal, "refused")
        try:
            with anyio.fail_after(PATIENCE):
                result = await self.session.send_request(
                    request_of(question), result_type=CreateMessageResult, metadata=self.stream
                )
            return answer_of(result)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise Suspended({key: question}) from None
        except MCPError as error:
            if isinstance(error, NoBackChannelError) or error.code == CONNECTION_CLOSED:
                raise Suspended({key: question}) from None
            message = str(error).partition("\n")[0][:200]
            self._refusal = f"the client refused to ask its model: {message}"
            raise _make_error(self._refusal, "refused") from error
        except TimeoutError as error:
            raise _make_error(
                f"the client has not answered within {PATIENCE:g} s", "unavailable"
            ) from error
        except ValidationError as error:
            raise _make_error("the client's answer is no sampling result", "malformed") from error
        except ConfigurationError as error:
            raise _make_error(error.message, "malformed") from error


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The era of 2026-07-28: the tool answers with its questions, and is called again with answers.

    Args:
        answers: By the keys of their questions.
        closed: Why there cannot be another round; None when there can.
    """

    answers: Mapping[str, HostAnswer]
    closed: str | None

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The answer that came with the call; see `Host`."""
        if key in self.answers:
            return self.answers[key]
        if self.closed is not None:
            return await Unreachable(f"{HOST}: {self.closed}").ask(key, question)
        raise Suspended({key: question})


def request_of(question: HostQuestion) -> CreateMessageRequest:
    """The sampling request for a question."""
    return CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=[
                SamplingMessage(role="user", content=TextContent(type="text", text=question.prompt))
            ],
            system_prompt=question.instructions or None,
            max_tokens=question.max_tokens,
            temperature=question.temperature,
        )
    )


def answer_of(result: object) -> HostAnswer:
    """The answer in a sampling result, with no text where the model has said nothing.

    Raises:
        ConfigurationError: It is no sampling result, or not in words.
    """
    if not isinstance(result, CreateMessageResult | CreateMessageResultWithTools):
        raise ConfigurationError(
            f"an answer of the host is of type {type(result).__name__}, not CreateMessageResult",
            "answer each sampling request with a sampling result, and call again",
        )
    text = ""
    for block in result.content if isinstance(result.content, list) else [result.content]:
        if not isinstance(block, TextContent):
            raise ConfigurationError(
                f"an answer of the host holds content of type {block.type!r}",
                "answer in text, and call again",
            )
        text += block.text
    return HostAnswer(text=text, model=result.model, complete=result.stop_reason != "maxTokens")


def _find_keyed_run(ctx: Context[Any, Any]) -> str | None:
    """The id of the run that an idempotency key stands for, the same each time and for each tool.

    Raises:
        ConfigurationError: The key is not valid.
    """
    request, meta = ctx.request_context.request, ctx.request_context.meta or {}
    key: object = meta.get(KEY_META)
    if key is None and isinstance(request, Request):
        key = request.headers.get(KEY_HEADER)
    if key is None:
        return None
    if not isinstance(key, str) or not 1 <= len(key) <= _LONGEST_KEY:
        raise ConfigurationError(
            f"an idempotency key should be a string of 1 to {_LONGEST_KEY} characters",
            "send a random one, such as a UUID, with each new request",
        )
    return f"run_{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _find_limit(rounds: int, answers: Mapping[str, HostAnswer]) -> str | None:
    """The reason why there is no other round; None when there can be one."""
    if rounds >= MOST_ROUNDS:
        return f"clients ask their model {MOST_ROUNDS} times for one call, and no more"
    if sum(len(answer.text) + len(answer.model) for answer in answers.values()) > LARGEST_STATE:
        return f"its answers are longer than {LARGEST_STATE:,} characters together"
    return None


def _make_error(message: str, code: str) -> ModelProviderError:
    return ModelProviderError(f"{HOST}: {message}", provider=HOST, error_code=code)


def sealing(settings: Settings, lifetime: float = LIFETIME) -> RequestStateSecurity:
    """The keys of the settings, else one in a file of the home folder, made when first needed."""
    return RequestStateSecurity(codec=_Codec(settings), ttl=lifetime)


@dataclass(frozen=True)
class _Codec:
    settings: Settings

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        keys = [key.get_secret_value() for key in self.settings.state_keys]
        return AESGCMRequestStateCodec(keys or [_read_key(self.settings.home / _KEY_FILE)])


def _read_key(path: Path) -> str:
    """The key in a file; the first process makes it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In containers with one home folder, processes may have the same id.
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        temporary.touch(mode=0o600, exist_ok=False)
        temporary.write_text(secrets.token_hex(32), encoding="ascii")
        with suppress(FileExistsError):
            os.link(temporary, path)  # all of it or nothing, with several processes at it
        temporary.unlink()
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise StorageError(
            f"the key in {path} cannot be read or made: {error.strerror}",
            "check the folder and the rights on it, or set SIFAKA_STATE_KEYS",
        ) from error
