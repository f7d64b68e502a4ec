"""Spans of OpenTelemetry."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sifaka.errors import SifakaError

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

Attribute = str | int | float | bool | list[str]


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
    # The proxy stands for a provider that is not configured.
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
        if isinstance(error, SifakaError) and error.code:
            span.set_attribute("sifaka.code", error.code)
        span.set_status(trace.Status(trace.StatusCode.ERROR))
    elif error is not None:
        span.set_attribute("sifaka.cancelled", True)
    span.end()
