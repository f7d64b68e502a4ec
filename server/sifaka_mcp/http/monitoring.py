"""What operators ask for: whether the server lives and is ready, and its numbers for Prometheus."""

import logging
import math
import time
from collections import Counter as Counted
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import anyio
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sifaka.calls.failure_log import report_failure
from sifaka.critics import CRITICS
from sifaka.errors import SifakaError
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators import VALIDATORS
from sifaka_mcp.state import AppState

logger = logging.getLogger(__name__)
ALIVE = JSONResponse({"status": "ok"})
"""The answer of `/healthz`: the process answers."""

_STORE_SECONDS = 5.0
"""Seconds that the store may take to answer."""
_FRESH = 1.0
"""Seconds for which an answer of the store is reused."""
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0)
"""Seconds. A request may wait for a run, by default up to 45."""
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "DELETE", "PUT", "PATCH"})
_access = logging.getLogger("sifaka_mcp.access")
_GIVEN_UP = "499"
"""nginx's status for a request that the client left before the answer."""


class Readiness:
    """`/readyz`: every part of the store answers. What is wrong is in the log, not in the answer.

    Args:
        store: The store, which is open by then.
    """

    def __init__(self, store: Callable[[], ThoughtStore]) -> None:
        self._store = store
        self._lock = anyio.Lock()
        self._checked_at = -math.inf
        self._ready = True

    async def answer(self, _: Request) -> JSONResponse:
        """200, or 503 with one line."""
        async with self._lock:
            if time.monotonic() - self._checked_at >= _FRESH:
                self._ready = await self._check_store()
                self._checked_at = time.monotonic()
        if self._ready:
            return JSONResponse({"status": "ready"})
        return JSONResponse(
            {"status": "unavailable", "reason": "the store does not answer"}, status_code=503
        )

    async def _check_store(self) -> bool:
        try:
            with anyio.fail_after(_STORE_SECONDS):
                wrong = [part for part in await self._store().health() if not part.works]
        except (SifakaError, TimeoutError) as error:
            if self._ready:  # reported once, not every few seconds
                report_failure(logger, "readiness", error)
            return False
        if self._ready:
            for part in wrong:
                logger.warning("not ready: %s: %s", part.part, part.found)
        return not wrong


class Metrics:
    """The numbers of one server, in a registry of their own.

    Args:
        state: What the server works with, which is open by then.
        paths: The paths that are counted each by itself; all others are one.
        sessions: How many are open.
        access_log: Whether each request is logged, at any log level.
    """

    def __init__(
        self,
        state: Callable[[], AppState],
        *,
        paths: Iterable[str],
        sessions: Callable[[], int],
        access_log: bool = False,
    ) -> None:
        self._access_log = access_log
        if access_log:
            _access.setLevel(logging.INFO)
        self._paths = frozenset(paths)
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(_RunNumbers(state))
        self._requests = Counter(
            "sifaka_http_requests",
            "Requests that were answered.",
            ["path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "sifaka_http_request_seconds",
            "From the headers of a request to the end of its answer.",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._under_way = Gauge(
            "sifaka_http_requests_in_progress",
            "Requests that are being answered.",
            ["path"],
            registry=self._registry,
        )
        Gauge("sifaka_sessions", "Sessions that are open.", registry=self._registry).set_function(
            sessions
        )

    async def answer(self, _: Request) -> Response:
        """All numbers in the text format of Prometheus."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    def measured(self, app: ASGIApp) -> ASGIApp:
        """The same app, of which every request is counted."""
        return partial(self._measure, app)

    async def _measure(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self._paths else "other"
        status = _GIVEN_UP

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        started = perf_counter()
        with self._under_way.labels(path).track_inprogress():
            try:
                await app(scope, receive, watch)
            except Exception:
                status = "500"
                raise
            finally:
                self._requests.labels(path, status).inc()
                seconds = perf_counter() - started
                self._seconds.labels(path).observe(seconds)
                if self._access_log:
                    _log_request(scope, path, status, seconds)


def _log_request(scope: Scope, path: str, status: str, seconds: float) -> None:
    """Log a request: no query, no header, no body, and no path that a caller has made up."""
    _access.info(
        "request",
        extra={
            "sifaka": {
                "component": "access",
                "method": scope["method"] if scope["method"] in _METHODS else "other",
                "path": path,
                "status": int(status),
                "ms": round(seconds * 1000, 1),
                "client": scope["client"][0] if scope.get("client") else None,
            }
        },
    )


@dataclass(eq=False)
class _RunNumbers(Collector):
    """Counts and times of the runs, from the server's monitor and circuit breakers."""

    state: Callable[[], AppState]

    def describe(self) -> Iterator[Metric]:
        # Without this the registry would ask for the numbers to learn their names.
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """The numbers of this moment."""
        state = self.state()
        summary = state.monitor.summary()
        yield GaugeMetricFamily(
            "sifaka_runs_in_progress",
            "Runs that this process works on.",
            value=state.monitor.under_way("run"),
        )
        components: defaultdict[tuple[str, ...], Counted[str]] = defaultdict(Counted)
        for key, component in summary["components"].items():
            kind, _, name = key.partition(":")
            components[kind, public_name(kind, name)].update(component)
        for field, name, what in _OF_COMPONENTS:
            values = {of: each[field] for of, each in components.items()}
            yield _make_family(name, what, ("kind", "name"), values)
        yield _make_family(
            "sifaka_errors",
            "Errors by class, and by code where there is one.",
            ("type",),
            {(error,): count for error, count in summary["errors"].items()},
        )
        models: defaultdict[str, Counted[str]] = defaultdict(Counted)
        for name, spent in summary["models"].items():
            models[public_name("model", name)].update(spent)
        yield _make_family(
            "sifaka_model_tokens",
            "Tokens of model calls.",
            ("provider", "type"),
            {
                (provider, kind): each[f"{kind}_tokens"]
                for provider, each in models.items()
                for kind in ("input", "output")
            },
        )
        for field, name, what in _OF_PROVIDERS:
            values = {(provider,): each[field] for provider, each in models.items()}
            yield _make_family(name, what, ("provider",), values)
        yield _make_family(
            "sifaka_breaker_open",
            "Providers that are left alone for now.",
            ("provider",),
            {(public_name("model", name),): 1 for name in state.breakers.open_providers()},
            GaugeMetricFamily,
        )


_OF_COMPONENTS = (
    ("count", "sifaka_component_calls", "Calls of a component that have ended."),
    ("errors", "sifaka_component_errors", "Calls of a component that have failed."),
    ("total", "sifaka_component_seconds", "What the calls of a component took, added up."),
)
_OF_PROVIDERS = (
    ("cost_usd", "sifaka_model_cost_usd", "Cost of model calls with a known price."),
    ("unpriced", "sifaka_model_calls_unpriced", "Model calls without a known price."),
)


def _make_family(
    name: str,
    what: str,
    labels: Sequence[str],
    values: Mapping[tuple[str, ...], float],
    kind: type[CounterMetricFamily | GaugeMetricFamily] = CounterMetricFamily,
) -> Metric:
    """Numbers, each under the values of its labels."""
    family = kind(name, what, labels=labels)
    for of, value in values.items():
        family.add_metric(of, value)
    return family


def public_name(kind: str, name: str) -> str:
    """The label of a component; names made up by callers are left out."""
    if kind == "model":
        return name.partition(":")[0]
    built_in = {"critic": CRITICS, "validator": VALIDATORS}.get(kind)
    return name if built_in is None or name in built_in else "custom"
