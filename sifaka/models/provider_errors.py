"""Providers' errors, put into the words of our error tree."""

from pydantic_ai import exceptions as pydantic_ai

from sifaka.errors import ConfigurationError, ModelProviderError, SifakaError

_CODES: tuple[tuple[type[pydantic_ai.AgentRunError], str, str], ...] = (
    (
        pydantic_ai.ModelAuthenticationError,
        "authentication",
        "check the provider's API key and that it may use this model",
    ),
    (pydantic_ai.ModelNotFoundError, "not_found", "check the model's name"),
    (
        pydantic_ai.ModelContextWindowExceededError,
        "context_window",
        "shorten the text or choose a model with a larger context",
    ),
    (pydantic_ai.ModelQuotaExceededError, "quota", "check the provider account's billing"),
    (pydantic_ai.ModelRateLimitError, "rate_limit", "wait, then resume the run"),
    (pydantic_ai.ModelTimeoutError, "timeout", "resume the run later"),
    (pydantic_ai.ModelRequestTimeout, "timeout", "resume the run later"),
    (pydantic_ai.RunTimedOut, "timeout", "resume the run later"),
    (
        pydantic_ai.ModelConnectionError,
        "connection",
        "check the network and the provider's address",
    ),
    (pydantic_ai.ModelUnavailableError, "server", "resume the run later"),
    (pydantic_ai.ModelServerError, "server", "resume the run later"),
    (pydantic_ai.ContentFilterError, "rejected", "the provider's content filter stopped it"),
    (pydantic_ai.ModelRequestRejectedError, "rejected", "check the model's settings"),
    (pydantic_ai.ModelAPIError, "unknown", "see the provider's status page"),
    (pydantic_ai.UnexpectedModelBehavior, "malformed", "try again or choose another model"),
)
"""From the most to the least specific: the first class that fits names the code."""


def translate(error: Exception, model: str) -> SifakaError:
    """The error of our tree for one that PydanticAI raised.

    Only what the provider's status and PydanticAI's class say is passed on, never a response body:
    bodies may quote the prompt or a key.

    Raises:
        Exception: The very error, when it is not one that a provider can cause.
    """
    provider, _, _ = model.partition(":")
    if isinstance(error, pydantic_ai.UserError):
        return ConfigurationError(
            f"model {model!r} cannot be used: {_first_line(error)}",
            "set the provider's API key, or name the model as provider:name",
        )
    for kind, code, _ in _CODES:
        if isinstance(error, kind):
            is_http = isinstance(error, pydantic_ai.ModelHTTPError)
            status = f" (HTTP {error.status_code})" if is_http else ""
            if is_http and code == "unknown":
                code = _code_of_status(error.status_code)
            retry_after = getattr(error, "retry_after", None)
            wait = f", it asks to wait {retry_after:g} s" if retry_after else ""
            return ModelProviderError(
                f"{model}: {_PLAIN[code]}{status}{wait}",
                _SUGGESTIONS[code],
                provider=provider,
                code=code,
                retry_after=retry_after,
            )
    raise error


_SUGGESTIONS = {code: suggestion for _, code, suggestion in reversed(_CODES)}


def _code_of_status(status: int) -> str:
    """The code for an HTTP status, where an adapter has raised no more than that."""
    if status >= 500:
        return "server"
    return {401: "authentication", 403: "authentication", 404: "not_found", 429: "rate_limit"}.get(
        status, "unknown"
    )


_PLAIN = {
    "authentication": "the provider refused the credentials",
    "not_found": "the provider does not know the model",
    "context_window": "the request is larger than the model's context",
    "quota": "the account's quota is used up",
    "rate_limit": "the provider limits the rate of requests",
    "timeout": "no answer in time",
    "connection": "the provider could not be reached",
    "server": "the provider failed",
    "rejected": "the provider rejected the request",
    "unknown": "the request failed",
    "malformed": "the answer was not in the form asked for",
}


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
