"""Providers on this machine or in its network: their abilities are asked for once, and kept."""

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from pydantic import Field, TypeAdapter, ValidationError

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import PARALLEL
from sifaka.errors import BudgetExceeded, ModelProviderError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

logger = logging.getLogger(__name__)

_KEPT_FOR = timedelta(days=7)
"""Then it is asked again: a server is updated, or serves another model by the same name."""
_LONG_ANSWER = 4096
"""Tokens of an answer that a call has to have time for, twice over."""
_LONGEST_CALL = 1800.0
"""Seconds for one call at most."""
_SHORTEST_CALL = 120.0
"""As for any other provider."""
_SLOW = 40.0
"""Tokens a second below which more than a few calls at a time only wait for each other."""
_SLOW_CALLS = 2
_FIRST_TOKEN = 0.5
"""Seconds before the first token that are no sign of a slow model: an answer of five tokens after
200 ms of waiting does not say how fast they come."""
_NEAR = (".local", ".localhost", ".internal", ".lan", ".home.arpa")


class Abilities(Frozen):
    """The abilities of a local provider, as one small question has shown them."""

    calls_tools: bool = True
    """True when it answers by a tool call, where one is asked for."""
    unable: bool = False
    """True when the model, shown the tool, has not called it as it was asked to."""
    tokens_per_second: float = Field(gt=0)
    """Of one answer, after the half second that its first one may take."""
    asked_at: datetime

    @property
    def call_timeout(self) -> float:
        """Seconds that one call may take."""
        needed = 2 * _LONG_ANSWER / self.tokens_per_second
        return min(_LONGEST_CALL, max(_SHORTEST_CALL, needed))

    @property
    def parallel(self) -> int:
        """Calls at the same time."""
        return _SLOW_CALLS if self.tokens_per_second < _SLOW else PARALLEL


_Kept: TypeAdapter[dict[str, Abilities]] = TypeAdapter(dict[str, Abilities])


class LocalProviders:
    """The abilities of local providers by their addresses and models, kept in a file.

    The question is charged to the run that needs it, and not on record. A provider elsewhere is
    asked nothing, nor is one in the cloud.

    Args:
        file: The file, which need not exist; None keeps them in memory.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._kept: dict[str, Abilities] | None = None

    async def get(self, model: "Model[Any]") -> Abilities | None:
        """The abilities that are kept of a model's provider; None when it has to be asked."""
        if self._kept is None:
            self._kept = await anyio.to_thread.run_sync(self._read)
        found = self._kept.get(_name(model))
        if found is None or datetime.now(UTC) - found.asked_at > _KEPT_FOR:
            return None
        return found

    async def ask(self, model: "Model[Any]") -> Abilities | None:
        """Ask a provider; None when it does not answer, and then nothing is kept."""
        found = await _probe_model(model)
        if found is not None:
            await anyio.to_thread.run_sync(self._keep, _name(model), found)
        return found

    def _read(self) -> dict[str, Abilities]:
        if self._file is None:
            return {}
        try:
            return _Kept.validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            return {}  # it is asked again

    def _keep(self, name: str, found: Abilities) -> None:
        # Others may have written since; the same answer of two processes is kept once.
        self._kept = {**self._read(), **(self._kept or {}), name: found}
        if self._file is None:
            return
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new = self._file.with_name(f"{self._file.name}.new")
            new.write_bytes(_Kept.dump_json(self._kept, indent=1))
            new.replace(self._file)


def is_local(url: str | None) -> bool:
    """True for the address of a server on this machine or in its own network."""
    host = urlsplit(url or "").hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_private
    return bool(host) and ("." not in host or host.endswith(_NEAR))


def _name(model: "Model[Any]") -> str:
    return f"{model.base_url} {model.model_name}"


QUESTION = "Which number is larger: the first, 3, or the second, 7? Call the tool `answer`."
"""The question that a provider is asked once."""
_CHOICES = ["first", "second"]
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"larger": {"type": "string", "enum": _CHOICES}},
    "required": ["larger"],
}
_LONGEST_REPLY = 200
"""Tokens of the answer to the question."""


async def _probe_model(model: "Model[Any]") -> Abilities | None:
    from pydantic_ai.direct import model_request
    from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UnexpectedModelBehavior
    from pydantic_ai.messages import ModelRequest, ToolCallPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition

    tool = ToolDefinition(
        name="answer",
        description="Your answer.",
        parameters_json_schema=_FORM,
        kind="output",
    )
    began = perf_counter()
    tokens, calls_tools = 1, False
    try:
        response = await model_request(
            model,
            [ModelRequest.user_text_prompt(QUESTION)],
            model_settings=ModelSettings(max_tokens=_LONGEST_REPLY, temperature=0.0),
            model_request_parameters=ModelRequestParameters(
                output_mode="tool", output_tools=[tool], allow_text_output=False
            ),
        )
    except ModelHTTPError as error:
        if error.status_code not in {400, 422, 501}:
            return None
        # Engines refuse tools with these; how fast they are is not known then.
        return Abilities(calls_tools=False, tokens_per_second=_SLOW, asked_at=datetime.now(UTC))
    except UnexpectedModelBehavior:
        logger.info("%s: a tool call could not be read", _name(model))
    except ModelProviderError as error:
        if error.code != "malformed":
            return None
        logger.info("%s: %s", _name(model), error.message)
    except (AgentRunError, BudgetExceeded):
        return None  # the run's own call says what is wrong
    else:
        tokens = max(1, response.usage.output_tokens)
        called = [part for part in response.parts if isinstance(part, ToolCallPart)]
        # One that is still thinking has not shown that it cannot.
        calls_tools = response.finish_reason == "length" or any(map(_fits, called))
    rate = rate_of(tokens, perf_counter() - began)
    found = Abilities(
        calls_tools=calls_tools,
        unable=not calls_tools,
        tokens_per_second=rate,
        asked_at=datetime.now(UTC),
    )
    logger.info("%s: %s", _name(model), found)
    return found


def rate_of(tokens: int, seconds: float) -> float:
    """The tokens a second of an answer that took so long, waiting for the first one left out."""
    return tokens / max(0.001, seconds - _FIRST_TOKEN)


def _fits(call: Any) -> bool:
    try:
        arguments = call.args_as_dict()
    except (ValueError, AssertionError):
        return False
    return arguments.get("larger") in _CHOICES
