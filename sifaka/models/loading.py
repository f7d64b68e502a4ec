"""Loading what it takes to ask a model: in a thread, once, while other work goes on."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from importlib import import_module
from threading import Lock, Thread
from typing import Any, cast

from sifaka._internal.lazy import load_pydantic_ai
from sifaka.models import AUTO, CALLER, HOST
from sifaka.record.thought import EDITOR

_OURS = ("agent", "estimate", "provider_errors", "reply", "structured")
"""Modules of this package that the first call imports."""
_started: dict[str, Future[None]] = {}
_lock = Lock()


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
    Thread(target=_do, args=(name, work, future), name=f"sifaka-load-{name}", daemon=True).start()
    return future


def _do(name: str, work: Callable[[], object], future: Future[None]) -> None:
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
    from sifaka.models.provider import provider_model

    client = cast("Any", getattr(provider_model(model).wrapped, "client", None))
    with suppress(AttributeError):
        client.chat.completions  # noqa: B018 - OpenAI's client imports it at its first use
