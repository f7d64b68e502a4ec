"""Embedding models of providers, by way of PydanticAI."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio

from sifaka._internal.lazy import load_pydantic_ai
from sifaka.embeddings.protocol import Role, Vector
from sifaka.errors import ConfigurationError, EmbeddingError
from sifaka.extras import install

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.providers import Provider

_EXTRAS = frozenset({"google", "huggingface", "ollama", "openai"})
"""The providers with embedding models whose packages ours has an extra for."""
SECONDS = 60.0
"""Seconds that a call may take, with the retries of the provider's client."""


async def embed_by_provider(name: str, texts: Sequence[str], role: Role) -> Sequence[Vector]:
    """The vectors of some texts, by a model such as `openai:text-embedding-3-small`.

    Each call has a client of its own, closed after it: clients belong to an event loop, and an
    embedder does not. The provider's client repeats what failed by a passing failure.

    Raises:
        EmbeddingError: The model failed.
    """
    try:
        with anyio.fail_after(SECONDS):
            model, provider = infer_model(name)
            async with AsyncExitStack() as stack:
                if provider is not None:
                    await stack.enter_async_context(provider)
                return (await model.embed(texts, input_type=role)).embeddings
    except TimeoutError as error:
        raise _failure(f"{name}: no answer within {SECONDS:g} s", True) from error
    # Besides PydanticAI's errors there are the client's own, over answers it cannot read.
    except Exception as error:
        raise _translate(error, name) from error


def infer_model(name: str) -> "tuple[EmbeddingModel, Provider[Any] | None]":
    """The model and, if it has one, its provider, whose client has to be closed.

    Raises:
        ConfigurationError: The name is unknown, or the provider's package or key is missing.
    """
    load_pydantic_ai()
    from pydantic_ai.embeddings import infer_embedding_model
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.providers import infer_provider

    made: list[Provider[Any]] = []

    def make(kind: str) -> "Provider[Any]":
        made.append(infer_provider(kind))
        return made[0]

    try:
        model = infer_embedding_model(name, provider_factory=make)
    except ImportError as error:
        provider = name.partition(":")[0]
        raise ConfigurationError(
            f"embedding model {name!r} needs a package that is not installed",
            install(provider)
            if provider in _EXTRAS
            else f"pip install 'pydantic-ai-slim[{provider}]'",
        ) from error
    except (UserError, ValueError) as error:
        reason = str(error).partition("\n")[0].partition(" To try ")[0]
        raise ConfigurationError(
            f"embedding model {name!r} cannot be used: {reason}",
            "set the provider's API key, or name the model as provider:name",
        ) from error
    return model, (made[0] if made else None)


def _translate(error: Exception, name: str) -> EmbeddingError:
    """Only what the status and the class say: bodies may quote the text or a key."""
    from pydantic_ai import exceptions

    transient = (
        exceptions.ModelRateLimitError,
        exceptions.ModelUnavailableError,
        exceptions.ModelServerError,
        exceptions.ModelConnectionError,
        exceptions.ModelRequestTimeout,
    )
    retryable = isinstance(error, transient)
    if isinstance(error, exceptions.ModelHTTPError):
        status = error.status_code
        retryable = retryable or status == 429 or status >= 500
        return _failure(f"{name}: the provider answered with HTTP {status}", retryable)
    if isinstance(error, exceptions.ModelConnectionError):
        return _failure(f"{name}: the provider could not be reached", True)
    return _failure(f"{name}: the request failed with {type(error).__name__}", retryable)


def _failure(message: str, retryable: bool) -> EmbeddingError:
    return EmbeddingError(
        message,
        "try again later"
        if retryable
        else "check the provider's API key and that it offers this model",
        retryable=retryable,
    )
