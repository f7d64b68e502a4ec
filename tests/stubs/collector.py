"""A collector of OpenTelemetry on loopback, which keeps the spans that it is sent by OTLP."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    url: str
    spans: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    services: set[str] = field(default_factory=set[str])
    bodies: list[bytes] = field(default_factory=list[bytes])

    def attributes(self, name: str) -> dict[str, Any]:
        """The attributes of the first span of a name."""
        return next(_plain(span["attributes"]) for span in self.spans if span["name"] == name)


def _plain(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    return {each["key"]: _value(each["value"]) for each in attributes}


def _value(value: dict[str, Any]) -> Any:
    ((kind, told),) = value.items()
    if kind == "arrayValue":
        return [_value(each) for each in told["values"]]
    return int(told) if kind == "intValue" else told


@contextmanager
def collector() -> Generator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            told.bodies.append(body)
            for resource in MessageToDict(ExportTraceServiceRequest.FromString(body))[
                "resourceSpans"
            ]:
                told.services.add(_plain(resource["resource"]["attributes"])["service.name"])
                for scope in resource["scopeSpans"]:
                    told.spans.extend(scope["spans"])
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
