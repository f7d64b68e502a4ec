"""Attributes of model calls by OpenTelemetry's conventions for generative AI.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/, of 1.37 and later. Texts are never
among them.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sifaka.calls.spans import Attribute

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

_PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "azure": "azure.ai.openai", "bedrock": "aws.bedrock", "cohere": "cohere",
        "google-gla": "gcp.gemini", "google": "gcp.gemini", "google-vertex": "gcp.vertex_ai",
        "grok": "x_ai", "xai": "x_ai", "mistral": "mistral_ai", "openai-chat": "openai",
        "openai-responses": "openai",
    }
)  # fmt: skip
"""PydanticAI's names of providers and those of the conventions, where they differ."""
_SETTINGS = (
    "max_tokens", "temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "seed",
)  # fmt: skip


def asked(
    model: str, provider: str, base_url: str | None, settings: Mapping[str, Any] | None
) -> dict[str, Attribute]:
    """The attributes that are known before a call.

    Args:
        model: The model's name at its provider.
        provider: The provider's name at PydanticAI.
        base_url: The address that is called, where it is known.
        settings: Of the call.
    """
    told: dict[str, Attribute] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
    return told | dict(_place(base_url)) | dict(_limits(settings or {}))


def answered(response: "ModelResponse") -> dict[str, Attribute]:
    """The attributes of an answer."""
    usage, reason = response.usage, response.finish_reason
    told: dict[str, Attribute | None] = {
        "gen_ai.response.id": response.provider_response_id,
        "gen_ai.response.model": response.model_name,
        "gen_ai.response.finish_reasons": [reason] if reason else None,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _place(base_url: str | None) -> Iterator[tuple[str, Attribute]]:
    parts = urlsplit(base_url or "")
    if parts.hostname:
        yield "server.address", parts.hostname
        yield "server.port", parts.port or (443 if parts.scheme == "https" else 80)


def _limits(settings: Mapping[str, Any]) -> Iterator[tuple[str, Attribute]]:
    for name in _SETTINGS:
        if isinstance(value := settings.get(name), int | float):
            yield f"gen_ai.request.{name}", value
    if stops := settings.get("stop_sequences"):
        yield "gen_ai.request.stop_sequences", list(stops)
