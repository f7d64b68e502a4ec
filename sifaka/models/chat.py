"""Plain chats with an OpenAI-compatible provider, without OpenAI's client.

That client takes a third of a second to import, and most of what a call costs besides the answer.
Plain chats have messages of text, tools, forms for JSON, and one whole answer; anything else is
left to PydanticAI's own model.
"""

import json
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    TransportPhase,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
)
from pydantic_ai.models import Model, ModelRequestParameters, check_allow_model_requests
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import (
    OpenAIModelProfile,
    openai_model_profile,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from sifaka.models.chat_messages import Body, answer_form, answer_of, messages_of, tools_of

_SETTINGS = {
    "temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop_sequences": "stop",
    "presence_penalty": "presence_penalty", "frequency_penalty": "frequency_penalty",
    "logit_bias": "logit_bias", "openai_logprobs": "logprobs",
    "openai_top_logprobs": "top_logprobs", "openai_user": "user",
}  # fmt: skip
"""PydanticAI's settings and their names in the protocol."""
_ELSEWHERE = {
    "max_tokens", "parallel_tool_calls", "tool_choice", "timeout", "extra_headers", "extra_body",
    "max_retries",
}  # fmt: skip
"""Settings with a use of their own; calls are repeated by `MeteredModel` alone."""
_CATEGORIES = {
    400: ModelRequestRejectedError, 401: ModelAuthenticationError, 402: ModelQuotaExceededError,
    403: ModelAuthenticationError, 404: ModelNotFoundError, 422: ModelRequestRejectedError,
    429: ModelRateLimitError, 503: ModelUnavailableError,
}  # fmt: skip
_QUOTA = ("quota", "billing", "credit", "balance", "spend_limit", "usage_limit")
"""Words in the code of an error of status 429 that waiting does not mend."""
_PHASES: tuple[tuple[type[httpx2.TransportError], TransportPhase], ...] = (
    (httpx2.PoolTimeout, "pool"),
    (httpx2.ConnectTimeout, "connect"),
    (httpx2.ConnectError, "connect"),
    (httpx2.ProxyError, "connect"),
    (httpx2.UnsupportedProtocol, "connect"),
    (httpx2.WriteTimeout, "write"),
    (httpx2.WriteError, "write"),
)
_MOST_FITTED = 64
_TIMEOUT = httpx2.Timeout(600, connect=5)
_ONE = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
"""A client for each question under way: one that has all connections looks at each idle one,
whenever a question comes and whenever an answer has come."""


class ChatModel(Model[httpx2.AsyncClient]):
    """A PydanticAI model for plain chats over HTTP.

    Args:
        model_name: The model's name at its provider.
        base_url: The address before `/chat/completions`.
        api_key: The provider's key; none is sent without one.
        system: The provider's name.
        profile: What differs from the protocol's usual.
        settings: For every call.
    """

    unsupported_settings = frozenset({"top_k"})

    def __init__(
        self,
        model_name: str,
        *,
        base_url: str,
        api_key: str | None = None,
        system: str = "openai",
        profile: ModelProfile | None = None,
        settings: ModelSettings | None = None,
    ) -> None:
        super().__init__(settings=settings, profile=profile or openai_model_profile(model_name))
        self._model_name = model_name
        self._base_url = base_url.rstrip("/") + "/"
        self._url = httpx2.URL(f"{self._base_url}chat/completions")
        self._system = system
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._trusted = _trust(urlsplit(base_url).scheme == "https")
        self._idle: list[httpx2.AsyncClient] = []
        self._users = 0
        self._fitted: dict[int, tuple[ToolDefinition, list[ToolDefinition]]] = {}

    @property
    def model_name(self) -> str:
        """The model's name at its provider."""
        return self._model_name

    @property
    def system(self) -> str:
        """The provider's name."""
        return self._system

    @property
    def base_url(self) -> str:
        """The address before `chat/completions`."""
        return self._base_url

    async def __aenter__(self) -> Self:
        """Keep the connections open until all that have entered have left."""
        self._users += 1
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Close the connections after the last one."""
        self._users -= 1
        while not self._users and self._idle:
            await self._idle.pop().aclose()

    def customize_request_parameters(
        self, model_request_parameters: ModelRequestParameters
    ) -> ModelRequestParameters:
        """See `Model`. A form of answers that comes again and again is fitted once."""
        given = model_request_parameters
        if given.function_tools or given.output_object or len(given.output_tools) != 1:
            return super().customize_request_parameters(given)
        (tool,) = given.output_tools
        known = self._fitted.get(id(tool))
        if known is None or known[0] is not tool:
            if len(self._fitted) >= _MOST_FITTED:
                self._fitted.clear()
            fitted = super().customize_request_parameters(given).output_tools
            known = self._fitted[id(tool)] = (tool, fitted)
        return replace(given, output_tools=known[1])

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One answer.

        Raises:
            ModelHTTPError: The provider answered with an error.
            ModelConnectionError: It could not be reached, or broke off.
            UnexpectedModelBehavior: Its answer is not what the protocol says.
            UserError: The question is more than a plain chat.
        """
        check_allow_model_requests()
        settings, parameters = self.prepare_request(model_settings, model_request_parameters)
        given = cast("dict[str, Any]", settings or {})
        body = self._body(messages, given, parameters)
        async with self:
            sent = await self._post(body, given)
        try:
            return answer_of(
                json.loads(sent), self._model_name, self._system, self._base_url, self.profile
            )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UnexpectedModelBehavior(
                f"{self.model_id}: no answer of the chat protocol ({type(error).__name__})"
            ) from error

    def _body(
        self,
        messages: Sequence[ModelMessage],
        settings: Mapping[str, Any],
        parameters: ModelRequestParameters,
    ) -> Body:
        profile = cast("OpenAIModelProfile", self.profile)
        if unknown := settings.keys() - _SETTINGS.keys() - _ELSEWHERE - self.unsupported_settings:
            raise UserError(
                f"a plain chat has no setting {min(unknown)!r}: pass PydanticAI's OpenAIChatModel"
            )
        instructions = self._get_instruction_parts(messages, parameters) or ()
        body: Body = {
            "model": self._model_name,
            "messages": messages_of(
                messages, [part.content for part in instructions], self._system, profile
            ),
            **tools_of(parameters, settings, profile),
            **answer_form(parameters, profile),
            **{_SETTINGS[name]: value for name, value in settings.items() if name in _SETTINGS},
        }
        if (longest := settings.get("max_tokens")) is not None:
            new = profile.get("openai_chat_supports_max_completion_tokens", True)
            body["max_completion_tokens" if new else "max_tokens"] = longest
        return body | (settings.get("extra_body") or {})

    async def _post(self, body: Body, settings: Mapping[str, Any]) -> bytes:
        # The client of the last answer first: its connection is open most likely.
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            response = await client.post(
                self._url,
                content=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
                headers={"content-type": "application/json", **settings.get("extra_headers", {})},
                timeout=settings.get("timeout", httpx2.USE_CLIENT_DEFAULT),
            )
        except httpx2.TransportError as error:
            late = isinstance(error, httpx2.TimeoutException)
            failed = ModelTimeoutError if late else ModelConnectionError
            phases: list[TransportPhase] = [p for kind, p in _PHASES if isinstance(error, kind)]
            phase = phases[0] if phases else "read"
            raise failed(self._model_name, type(error).__name__, phase=phase) from error
        finally:
            self._idle.append(client)
        if response.is_success:
            return response.content
        raise self._error(response)

    def _new_client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=self._headers, timeout=_TIMEOUT, limits=_ONE, verify=self._trusted
        )

    def _error(self, response: httpx2.Response) -> ModelHTTPError:
        told: Any = response.text
        with suppress(ValueError):
            told = json.loads(told)
        about: dict[str, Any] = {}
        if isinstance(told, dict):
            told = cast("dict[str, Any]", told).get("error", told)
            about = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
        code, kind = (str(said) if said else None for said in map(about.get, ("code", "type")))
        status = response.status_code
        category = _CATEGORIES.get(status, ModelServerError if status >= 500 else None)
        if status == 429 and any(word in f"{code} {kind}".casefold() for word in _QUOTA):
            category = ModelQuotaExceededError
        return ModelHTTPError.for_category(
            category,
            status_code=status,
            model_name=self._model_name,
            body=cast("object", told),
            headers=dict(response.headers),
            provider_error_code=code,
            provider_error_type=kind,
        )


@cache
def _trust(certificates: bool) -> ssl.SSLContext:
    """What an address is trusted by; loading the certificates takes 40 ms, so once a process.

    Without them no address that needs them is trusted.
    """
    return httpx2.create_ssl_context() if certificates else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
