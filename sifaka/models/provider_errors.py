"""Providers' errors, put into the words of our error tree."""

import re
from typing import get_args

from pydantic_ai import exceptions as pydantic_ai

from sifaka._internal.naming import did_you_mean
from sifaka.errors import ConfigurationError, ModelProviderError, SifakaError

_CODES: tuple[tuple[type[pydantic_ai.AgentRunError], str], ...] = (
    (pydantic_ai.ModelAuthenticationError, "authentication"),
    (pydantic_ai.ModelNotFoundError, "not_found"),
    (pydantic_ai.ModelContextWindowExceededError, "context_window"),
    (pydantic_ai.ModelQuotaExceededError, "quota"),
    (pydantic_ai.ModelRateLimitError, "rate_limit"),
    (pydantic_ai.ModelTimeoutError, "timeout"),
    (pydantic_ai.ModelRequestTimeout, "timeout"),
    (pydantic_ai.RunTimedOut, "timeout"),
    (pydantic_ai.ModelConnectionError, "connection"),
    (pydantic_ai.ModelUnavailableError, "server"),
    (pydantic_ai.ModelServerError, "server"),
    (pydantic_ai.ContentFilterError, "content_filter"),
    (pydantic_ai.ModelRequestRejectedError, "rejected"),
    (pydantic_ai.ModelAPIError, "unknown"),
    (pydantic_ai.UnexpectedModelBehavior, "malformed"),
    (pydantic_ai.UsageLimitExceeded, "request_limit"),
)
"""From the most to the least specific: the first class that fits names the code."""
_ABOUT_REQUEST = frozenset({400, 413, 422, 500})
"""Statuses that a request which is too long may get: Ollama and llama.cpp have said 500."""
_STATUSES = {408: "timeout", 409: "server", 413: "context_window", 425: "server"}
"""What these statuses say, whatever class an adapter makes of them."""
_UNCLASSED = {401: "authentication", 403: "authentication", 404: "not_found", 429: "rate_limit"}
"""What these say, where an adapter has raised no more than the status."""
_LONGEST_BODY = 4_000
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length|model_max_prompt_tokens"
    r"|(?:maximum|max|available|allowed) (?:context|prompt|model|sequence)[ _](?:length|size|window)"
    r"|(?:context|prompt|sequence)[ _](?:length|size|window|limit)[^.]{0,40}exceed"
    r"|exceeds?[^.]{0,60}(?:context (?:length|size|window|limit)|context_length|maximum (?:number of"
    r" tokens|allowed (?:length|number))|token limit|limit of \d+ tokens|configured limit)"
    r"|prompt is too long|prompt (?:\([^)]*\) )?is (?:too long|longer than)"
    r"|input (?:is too long|token count[^.]{0,40}exceeds)|too many (?:input )?tokens"
    r"|reduce the (?:length|size) of|tokens? \+ `?max_new_tokens|greater than the context length"
    r"|context (?:the )?overflows?|too large for model",
    re.IGNORECASE,
)
"""The words of OpenAI, Anthropic, Google, Mistral, Groq, Cohere, xAI, Bedrock, Ollama, vLLM,
llama.cpp, LM Studio and TGI for a request that is too long."""
_FILTERED = re.compile(
    r"content_filter|content_policy_violation|ResponsibleAIPolicyViolation|content management policy"
    r"|blocked by[^.]{0,40}(?:safety|content filter)|PROHIBITED_CONTENT",
    re.IGNORECASE,
)
_LATER = "resume the run later"
_WORDS = {
    "authentication": (
        "the provider refused the credentials",
        "check the provider's API key and that it may use this model",
    ),
    "not_found": ("the provider does not know the model", "check the model's name"),
    "context_window": (
        "the request is larger than the model's context",
        "shorten the text or choose a model with a larger context",
    ),
    "quota": ("the account's quota is used up", "check the provider account's billing"),
    "rate_limit": ("the provider limits the rate of requests", "wait, then resume the run"),
    "timeout": ("no answer in time", _LATER),
    "connection": (
        "the provider could not be reached",
        "check the network and the provider's address",
    ),
    "server": ("the provider failed", _LATER),
    "content_filter": (
        "the provider's content filter stopped the request",
        "reword the task or the text, or choose another model",
    ),
    "rejected": (
        "the provider rejected the request",
        "check the model's name and settings: it may not take what was sent",
    ),
    "unknown": ("the request failed", "see the provider's status page"),
    "request_limit": (
        "the agent made as many requests as it may, and no answer",
        "see why it keeps calling its tools, or set a budget with max_calls",
    ),
    "malformed": (
        "the answer was not in the form asked for",
        "try again or choose another model",
    ),
}
"""The failure and a suggestion, by the code."""


def translate(error: Exception, model: str) -> SifakaError:
    """The error of our tree for one that PydanticAI raised.

    Only what the provider's status and PydanticAI's class say is passed on, never a response body:
    bodies may quote the prompt or a key.

    Raises:
        Exception: The very error, when it is not one that a provider can cause.
    """
    provider, _, _ = model.partition(":")
    if isinstance(error, pydantic_ai.UserError):
        message, providers = str(error).partition("\n")[0], _list_providers()
        if message.startswith("Unknown model") and provider not in providers:
            return ConfigurationError(
                f"unknown provider {provider!r} of model {model!r}",
                did_you_mean(provider, providers),
            )
        return ConfigurationError(
            f"model {model!r} cannot be used: {message}",
            "set the provider's API key, or name the model as provider:name",
        )
    code = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if code is None:
        raise error
    status = ""
    if isinstance(error, pydantic_ai.ModelHTTPError):
        number, status = error.status_code, f" (HTTP {error.status_code})"
        code = _code_of_body(error) or _STATUSES.get(number) or code
        if code == "unknown":
            code = _UNCLASSED.get(number, "server" if number >= 500 else code)
    retry_after = getattr(error, "retry_after", None)
    wait = f", it asks to wait {retry_after:g} s" if retry_after else ""
    failure, suggestion = _WORDS[code]
    return ModelProviderError(
        f"{model}: {failure}{status}{wait}",
        suggestion,
        provider=provider,
        error_code=code,
        retry_after=retry_after,
    )


def _list_providers() -> list[str]:
    """The providers whose models PydanticAI knows, and that of local ones."""
    from pydantic_ai.models import KnownModelName

    listed = {str(name).partition(":") for name in get_args(KnownModelName.__value__)}
    return sorted({"ollama", *(name for name, colon, _ in listed if colon and "/" not in name)})


def _code_of_body(error: pydantic_ai.ModelHTTPError) -> str | None:
    """The code that a body gives where status and class do not; it is read and not passed on."""
    if error.status_code not in _ABOUT_REQUEST:
        return None
    body = f"{error.body} {error.provider_error_code} {error.provider_error_type}"[:_LONGEST_BODY]
    if _TOO_LONG.search(body):
        return "context_window"
    return "content_filter" if _FILTERED.search(body) else None
