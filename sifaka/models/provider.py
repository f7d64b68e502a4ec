"""PydanticAI models from their names, with clients that stay open, loaded in a thread."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib import import_module
from ipaddress import ip_address
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import urlsplit

import anyio
from pydantic import ValidationError

from sifaka._internal.lazy import load_pydantic_ai
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.extras import install
from sifaka.models import AUTO, CALLER, HOST
from sifaka.record.thought import EDITOR

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

    from sifaka.models.journaled import JournaledModel
    from sifaka.models.metered import MeteredModel

_OURS = ("agent", "provider_errors", "structured")
"""Modules of this package that the first call imports."""
HUGGING_FACE = "huggingface"
_NEAR = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
_started: dict[str, Future[None]] = {}
_lock = Lock()


def provider_model(
    model: "Model[Any] | str",
    fallbacks: "Sequence[Model[Any] | str]" = (),
    *,
    call_timeout: float | None = None,
) -> "JournaledModel":
    """The model of a name such as `openai:gpt-5`, metered and journaled.

    Args:
        model: A name, or a PydanticAI model.
        fallbacks: Asked in their order when the one before has failed for good.
        call_timeout: Seconds that one call may take; `CALL_TIMEOUT` when None, more for
            a host's model and a local one.

    Raises:
        ConfigurationError: A name is unknown, or the provider's package or key is missing.
    """
    load_pydantic_ai()
    from sifaka.models.journaled import JournaledModel

    if isinstance(model, JournaledModel):
        return model
    first = _build_metered(model, call_timeout)
    if not fallbacks:
        return JournaledModel(first)
    from pydantic_ai.models.fallback import FallbackModel

    others = [_build_metered(other, call_timeout, fallback=True) for other in fallbacks]
    return JournaledModel(FallbackModel(first, *others, fallback_on=(ModelProviderError,)))


def _build_metered(
    model: "Model[Any] | str", call_timeout: float | None, *, fallback: bool = False
) -> "MeteredModel":
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    from sifaka.models.host import HostModel
    from sifaka.models.metered import CALL_TIMEOUT, MeteredModel
    from sifaka.models.provider_errors import translate

    provider = str(model).partition(":")[0]
    try:
        inferred = (
            infer_model(model, _hugging_face) if provider == HUGGING_FACE else infer_model(model)
        )
    except UserError as error:
        raise translate(error, str(model)) from error
    except ImportError as error:
        raise ConfigurationError(
            f"model {model!r} needs a package that is not installed", install(provider)
        ) from error
    # Broad, reported as a setting: each provider's client has errors of its own, such as for a key
    # that is empty, and this is where it is made.
    except Exception as error:
        message = str(error).partition("\n")[0]
        raise ConfigurationError(
            f"model {str(model)!r} cannot be used: {message}",
            "check the provider's API key and settings",
        ) from error
    if isinstance(model, str) and provider == "openai" and is_local(inferred.base_url):
        inferred = infer_model(model.replace("openai", "openai-chat", 1))  # all that many know
    if isinstance(model, str):
        # The SDK clients of OpenAI and Anthropic retry twice on their own, unseen by the budget.
        client = cast("Any", getattr(inferred, "client", None))
        if isinstance(getattr(client, "max_retries", None), int):
            client.max_retries = 0
        _forgive_usage(inferred)
    if is_local(inferred.base_url) and _speaks_openai(inferred):
        from sifaka.models.local import PATIENCE, LocalModel

        return LocalModel(inferred, call_timeout=call_timeout or PATIENCE, fallback=fallback)
    default = HostModel.call_timeout if isinstance(inferred, HostModel) else CALL_TIMEOUT
    return MeteredModel(inferred, call_timeout=call_timeout or default, fallback=fallback)


def is_local(url: str | None) -> bool:
    """True for the address of a server on this machine or in its own network."""
    host = urlsplit(url or "").hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_private
    return bool(host) and ("." not in host or host.endswith(_NEAR))


def _hugging_face(_: str) -> "Provider[Any]":
    """Hugging Face with the words that let it choose where a model runs; without, it has no URL."""
    from pydantic_ai.providers.huggingface import HuggingFaceProvider

    return HuggingFaceProvider(provider_name="auto")


def _speaks_openai(model: "Model[Any]") -> bool:
    """True for the protocol of OpenAI's chats, which local engines speak."""
    openai = sys.modules.get("pydantic_ai.models.openai")
    return openai is not None and isinstance(model, openai.OpenAIChatModel)


def _forgive_usage(model: "Model[Any]") -> None:
    # An answer is no worse for a usage of a form that nobody knows; it is read as one without.
    check = getattr(model, "_validate_completion", None)
    if check is None:
        return

    def validate(completion: Any) -> Any:
        try:
            return check(completion)
        except ValidationError as error:
            if any(detail["loc"][:1] != ("usage",) for detail in error.errors()):
                raise
            completion.usage = None
            return check(completion)

    setattr(model, "_validate_completion", validate)  # noqa: B010 - a hook for subclasses


async def loaded(*models: object) -> None:
    """Wait until models of these names can be asked without further imports.

    The event loop is free meanwhile. Those that wait for the same provider wait for one thread. A
    model that cannot be loaded is no error here: the call that needs it says why.
    """
    for name in models:
        loading = start_loading(name)
        if loading is not None and not loading.done():
            await asyncio.wrap_future(loading)


def start_loading(model: object) -> Future[None] | None:
    """Load in the background what a model of this name needs; None when it needs nothing."""
    if not isinstance(model, str) or model in {AUTO, CALLER, EDITOR}:
        return None
    return in_background(model.partition(":")[0], partial(_load, model))


def in_background(name: str, work: Callable[[], object]) -> Future[None]:
    """Do something in a thread of its own, once for each name; work that failed is done anew."""
    with _lock:
        if name in _started:
            return _started[name]
        future = _started[name] = Future[None]()
        future.set_running_or_notify_cancel()  # who stops waiting does not stop the work
    Thread(target=_run, args=(name, work, future), name=f"sifaka-load-{name}", daemon=True).start()
    return future


def _run(name: str, work: Callable[[], object], future: Future[None]) -> None:
    try:
        work()
    # Whatever it is, the call that needs what was not loaded reports it.
    except Exception:  # noqa: BLE001 - see above
        with _lock:
            _started.pop(name, None)
    finally:
        future.set_result(None)


def _load(model: str) -> None:
    load_pydantic_ai()
    for module in _OURS:
        import_module(f"sifaka.models.{module}")
    if model == HOST:
        import_module("sifaka.models.host")
        return
    client = cast("Any", getattr(provider_model(model).wrapped, "client", None))
    with suppress(AttributeError):
        client.chat.completions  # noqa: B018 - OpenAI's client imports it at its first use


class Connections:
    """Models by their names, each opened once and closed with the rest.

    A run that brings its own client loads the trusted certificates and connects anew, some 40 ms
    and one round trip for each parallel call. A program that makes many runs in one event loop
    keeps one of these around them: `async with Connections() as connections: ...`. The first event
    loop that uses them has them to itself until they are closed; afterwards they can be used again.

    Args:
        call_timeout: Seconds that one call may take; see `provider_model`.

    Raises:
        ConfigurationError: Used from another event loop, as each `run_sync` has one of its own.
    """

    def __init__(self, *, call_timeout: float | None = None) -> None:
        self._opening = partial(provider_model, call_timeout=call_timeout)
        self._start_over()

    def _start_over(self) -> None:
        self._models: dict[tuple[str, ...], JournaledModel] = {}
        self._open: set[int] = set()
        self._stack = AsyncExitStack()
        self._lock = anyio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        self._stay_in_one_loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stay_in_one_loop()
        stack = self._stack
        self._start_over()
        await stack.aclose()

    def model(self, model: Any, fallbacks: Sequence[Any] = ()) -> "JournaledModel":
        """The model of a name, the same one each time; see `provider_model`.

        Raises:
            ConfigurationError: A name is unknown, the provider's package or key is missing, or
                another event loop has the connections.
        """
        names = (model, *fallbacks)
        if not all(isinstance(name, str) for name in names):
            return self._opening(model, fallbacks)
        self._stay_in_one_loop()
        if names not in self._models:
            self._models[names] = self._opening(model, fallbacks)
        return self._models[names]

    def holds(self, model: object) -> bool:
        """True when this is one of its models."""
        return any(model is known for known in self._models.values())

    async def open(self, model: Any) -> None:
        """Open the client of one of its models, unless it is open.

        Raises:
            ConfigurationError: Another event loop has the connections.
        """
        self._stay_in_one_loop()
        async with self._lock:
            if id(model) not in self._open:
                await self._stack.enter_async_context(model)
                self._open.add(id(model))

    def _stay_in_one_loop(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # before any runs nothing is bound
            loop = None
        if self._loop is None:
            self._loop = loop
        elif loop is not None and loop is not self._loop:
            # A client waits for its own loop, and fails when that is closed.
            raise ConfigurationError(
                "connections serve one event loop, and they are used from another one",
                "await the runs in one event loop, or leave connections out with run_sync",
            )
