"""The time that runs take: sums for each component, and spans for OpenTelemetry.

Sums only, so that a server that runs for months needs no more memory than one that has just begun.
Attributes of model calls follow OpenTelemetry's conventions for generative AI, of 1.37 and later:
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/. Texts are never among them.
"""

import json
import secrets
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from sifaka.errors import SifakaError, StorageError
from sifaka.record.usage import Usage

if TYPE_CHECKING:
    from contextvars import Token
    from types import TracebackType

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer
    from pydantic_ai.messages import ModelResponse

Attribute = str | int | float | bool | list[str]
Kind = Literal["run", "phase", "model", "critic", "validator", "retriever", "storage"]
_TIMES: tuple[tuple[str, Kind], ...] = (
    ("total_time", "run"),
    ("model_time", "model"),
    ("validation_time", "validator"),
    ("critic_time", "critic"),
    ("retrieval_time", "retriever"),
    ("storage_time", "storage"),
)
_OUTER = frozenset({"run", "phase"})
"""Kinds that contain the others: never what is slow in itself."""
MOST_NAMES = 500
"""Components, and kinds of error, that are kept apart; all further ones are counted as `other`."""


@dataclass(slots=True)
class _Times:
    """The times of one component, or of all of a kind."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0
    errors: int = 0
    elapsed: float = 0.0
    """Wall time in which at least one was under way: those in parallel are not added up."""
    active: int = 0
    since: float = 0.0

    def until(self, now: float) -> float:
        """The wall time, what is under way included."""
        return self.elapsed + (now - self.since if self.active else 0.0)


@dataclass(slots=True, eq=False)
class Monitor:
    """Times the components of all runs of a chain; any number of tasks and threads may share it."""

    clock: Callable[[], float] = time.perf_counter
    """Seconds of a clock that never goes back."""
    tracer: "Tracer | None" = None
    """The receiver of spans; when None the global OpenTelemetry provider, if any."""
    _usage: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]], init=False)
    _errors: dict[str, int] = field(default_factory=dict[str, int], init=False)
    # Reentrant: a coroutine that is collected while the lock is held leaves its contexts there.
    _lock: RLock = field(default_factory=RLock, init=False, repr=False)
    _kinds: defaultdict[Kind, _Times] = field(
        default_factory=partial(defaultdict[Kind, _Times], _Times), init=False
    )
    _components: defaultdict[tuple[Kind, str], _Times] = field(
        default_factory=partial(defaultdict[tuple[Kind, str], _Times], _Times), init=False
    )

    def measure(
        self, kind: Kind, name: str, **attributes: Attribute
    ) -> AbstractContextManager[None]:
        """Count the time within this context to a component.

        An exception that leaves the context counts as an error of the component, unless it is a
        cancellation. Where OpenTelemetry is in use, the context is a span too, named
        `sifaka.<kind> <name>`, and the current one within it. It tells an error's type, never its
        message, which may quote the text.

        Args:
            kind: The kind of component.
            name: The component's name. Not an id: each name has its own line in the summary.
            attributes: For the span, such as `run_id` and `iteration`; those with a dot in their
                names keep them. A call of a model with `gen_ai.` ones is named by
                the conventions.
        """
        # OpenTelemetry is never imported for this: a program that wants spans has done it.
        tracer = find_tracer(self.tracer) if "opentelemetry.trace" in sys.modules else None
        with self._lock:
            known = (kind, name) in self._components or len(self._components) < MOST_NAMES
            times = (self._components[kind, name if known else "other"], self._kinds[kind])
        return _Measurement(self._lock, self.clock, times, kind, name, tracer, attributes)

    def count_usage(self, name: str, usage: Usage) -> None:
        """Count what a call of a model was charged with."""
        with self._lock:
            key = name if name in self._usage or len(self._usage) < MOST_NAMES else "other"
            self._usage.setdefault(key, Counter()).update(
                {
                    "input_tokens": usage.input_tokens,
                    "output_tokens": usage.output_tokens,
                    "cost_usd": usage.cost_usd or 0.0,
                    "unpriced": usage.model_calls if usage.cost_usd is None else 0,
                }
            )

    def count_error(self, error_type: str, code: str | None = None) -> None:
        """Count an error by its class and, where it has one, its code."""
        key = f"{error_type}:{code}" if code else error_type
        with self._lock:
            if key not in self._errors and len(self._errors) >= MOST_NAMES:
                key = "other"
            self._errors[key] = self._errors.get(key, 0) + 1

    def summary(self) -> dict[str, Any]:
        """The measurements so far, ready for JSON. Times are in seconds.

        Returns:
            `total_time`, `model_time`, `validation_time`, `critic_time`, `retrieval_time` and
            `storage_time`: how long at least one such thing was under way, those under way now
            included. `runs`: how many have ended. `components`: by `kind:name`, how many `count`
            have ended, with their durations added up (`total`), the `longest` of them, how many
            ended in an error (`errors`), and the `wall` time as above. `errors`: how often each
            was counted. `models`: by model, its `input_tokens`, `output_tokens`, `cost_usd`, and
            the calls whose cost is not known (`unpriced`).
        """
        with self._lock:
            now = self.clock()
            return {
                **{key: self._kinds[kind].until(now) for key, kind in _TIMES},
                "runs": self._kinds["run"].count,
                "components": {
                    f"{kind}:{name}": {
                        "count": times.count,
                        "total": times.total,
                        "wall": times.until(now),
                        "longest": times.longest,
                        "errors": times.errors,
                    }
                    for (kind, name), times in self._components.items()
                },
                "errors": dict(self._errors),
                "models": {name: dict(used) for name, used in self._usage.items()},
            }

    def under_way(self, kind: Kind) -> int:
        """The number of components of a kind that are at work now."""
        with self._lock:
            return self._kinds[kind].active

    def bottlenecks(self, limit: int = 5) -> list[tuple[str, float]]:
        """The components, runs and phases aside, that took most: name and seconds of wall time."""
        with self._lock:
            now = self.clock()
            walls = [
                (f"{kind}:{name}", times.until(now))
                for (kind, name), times in self._components.items()
                if kind not in _OUTER
            ]
        return sorted(walls, key=lambda item: -item[1])[:limit]

    def export(self, path: str | Path) -> None:
        """Write the summary to a JSON file; a reader sees the old one or the whole new one.

        Raises:
            StorageError: The file cannot be written.
        """
        target = Path(path)
        unfinished = target.parent / f".{secrets.token_hex(8)}.tmp"
        try:
            with unfinished.open("x", encoding="utf-8") as file:
                json.dump(self.summary(), file, indent=2)
            unfinished.replace(target)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise StorageError(
                f"{str(target)!r} cannot be written: {error.strerror}",
                "choose a file in a folder that exists and may be written to",
            ) from error


@dataclass(slots=True)
class _Measurement:
    # A class, because a generator's context manager takes twice the time.
    lock: "RLock"
    clock: Callable[[], float]
    times: tuple[_Times, ...]
    """Those of the component and of its kind."""
    kind: Kind
    name: str
    tracer: "Tracer | None"
    attributes: dict[str, Attribute]
    started: float = 0.0
    span: "tuple[Span, Token[Context]] | None" = None

    def __enter__(self) -> None:
        if self.tracer is not None:
            self.span = begin_span(self.tracer, self.kind, self.name, self.attributes)
        with self.lock:
            self.started = now = self.clock()
            for times in self.times:
                if times.active == 0:
                    times.since = now
                times.active += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        with self.lock:
            now = self.clock()
            duration = now - self.started
            for times in self.times:
                times.count += 1
                times.total += duration
                times.longest = max(times.longest, duration)
                times.errors += isinstance(error, Exception)
                times.active -= 1
                if times.active == 0:
                    times.elapsed += now - times.since
        if self.span is not None:
            end_span(*self.span, error)


def annotate(attributes: Mapping[str, Attribute]) -> None:
    """Add attributes to the span that is current, if there is one."""
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry import trace

        trace.get_current_span().set_attributes(attributes)


def find_tracer(given: "Tracer | None") -> "Tracer | None":
    """The tracer that is given, or the global one; None where no provider is configured."""
    from opentelemetry import trace

    if given is not None:
        return given
    provider = trace.get_tracer_provider()
    # The proxy is there for a provider that is not configured.
    return (
        None if isinstance(provider, trace.ProxyTracerProvider) else provider.get_tracer("sifaka")
    )


def begin_span(
    tracer: "Tracer", kind: str, name: str, attributes: dict[str, Attribute]
) -> "tuple[Span, Token[Context]]":
    """A span that is current from now on, and what makes the one before it current again."""
    from opentelemetry import context, trace

    operation = attributes.get("gen_ai.operation.name")
    span = tracer.start_span(
        f"{operation} {attributes['gen_ai.request.model']}"
        if operation
        else f"sifaka.{kind} {name}",
        kind=trace.SpanKind.CLIENT if operation else trace.SpanKind.INTERNAL,
        attributes={
            "sifaka.kind": kind,
            "sifaka.name": name,
            **{key if "." in key else f"sifaka.{key}": each for key, each in attributes.items()},
        },
    )
    return span, context.attach(trace.set_span_in_context(span))


def end_span(span: "Span", token: "Token[Context]", error: BaseException | None) -> None:
    """End a span; of an error it tells the type, never the message."""
    from opentelemetry import context, trace

    context.detach(token)
    if isinstance(error, Exception):
        span.set_attribute("error.type", type(error).__qualname__)
        if isinstance(error, SifakaError) and error.error_code:
            span.set_attribute("sifaka.code", error.error_code)
        span.set_status(trace.Status(trace.StatusCode.ERROR))
    elif error is not None:
        span.set_attribute("sifaka.cancelled", True)
    span.end()


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
    attributes: dict[str, Attribute] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
    parts, options = urlsplit(base_url or ""), settings or {}
    if parts.hostname:
        attributes["server.address"] = parts.hostname
        attributes["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    for name in _SETTINGS:
        if isinstance(value := options.get(name), int | float):
            attributes[f"gen_ai.request.{name}"] = value
    if stops := options.get("stop_sequences"):
        attributes["gen_ai.request.stop_sequences"] = list(stops)
    return attributes


def answered(response: "ModelResponse") -> dict[str, Attribute]:
    """The attributes of an answer."""
    usage, reason = response.usage, response.finish_reason
    attributes: dict[str, Attribute | None] = {
        "gen_ai.response.id": response.provider_response_id,
        "gen_ai.response.model": response.model_name,
        "gen_ai.response.finish_reasons": [reason] if reason else None,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens or None,
    }
    return {name: value for name, value in attributes.items() if value is not None}
