"""Spans of OpenTelemetry sent by OTLP, where the usual variables say so."""

import os
import sys

import anyio
import anyio.to_thread

from sifaka.extras import require

_ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_FLUSH_SECONDS = 3
"""A receiver that is away does not hold the end of a process up for longer."""


def send_spans() -> None:
    """Send the spans that end from now on, the last ones at the end of the process.

    OpenTelemetry reads its own variables: the address, headers with a key, `OTEL_SERVICE_NAME`,
    `OTEL_RESOURCE_ATTRIBUTES`, the sampler and the sizes of batches.

    Raises:
        ConfigurationError: An address is set, and the packages are not installed.
    """
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if off or not any(map(os.environ.get, _ADDRESSES)):
        return
    name = "opentelemetry.exporter.otlp.proto.http"
    require("sending spans", "otlp", "opentelemetry.sdk", name)
    os.environ.setdefault("OTEL_SERVICE_NAME", "sifaka-mcp")
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


async def flush() -> None:
    """Send the spans that have ended, where they are sent at all: a signal may end the process."""
    if "opentelemetry.sdk.trace" in sys.modules:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        provider = trace.get_tracer_provider()
        if isinstance(provider, TracerProvider):
            with anyio.move_on_after(_FLUSH_SECONDS, shield=True):
                await anyio.to_thread.run_sync(provider.force_flush, abandon_on_cancel=True)
