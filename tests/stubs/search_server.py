"""A small HTTP server on loopback that answers as a test says, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    method: str
    target: str
    """Path and query as they were sent."""
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    """By their names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What it is answered with."""

    body: bytes
    status: int = 200
    """0 cuts the connection."""
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def of_json(data: object, status: int = 200, **headers: str) -> Answered:
    """An answer in JSON; `x_one` is the header `x-one`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(data, ensure_ascii=False).encode()
    return Answered(body=body, status=status, headers=named)


def always(answer: Answered) -> Callable[[Asked], Answered]:
    """The same, whatever is asked."""

    def told(asked: Asked) -> Answered:
        del asked
        return answer

    return told


class SearchServer:
    """The server.

    Args:
        answer: Called in a thread for each request.
    """

    def __init__(self, answer: Callable[[Asked], Answered]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def _reply(self) -> None:
                parts = urlsplit(self.path)
                asked = Asked(
                    method=self.command,
                    target=self.path,
                    path=unquote(parts.path),
                    params=dict(parse_qsl(parts.query, keep_blank_values=True)),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
                )
                outer.asked.append(asked)
                told = outer.answer(asked)
                if told.status == 0:
                    self.close_connection = True
                    return
                self.send_response(told.status)
                self.send_header("Content-Type", told.media_type)
                self.send_header("Content-Length", str(len(told.body)))
                for name, value in told.headers.items():
                    self.send_header(name, value)
                if told.status >= 500:
                    self.send_header("Retry-After", "0")  # so that nobody has to wait
                self.end_headers()
                self.wfile.write(told.body)

            do_GET = do_PUT = do_POST = do_DELETE = _reply  # noqa: N815 - named by the standard library

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the tests' output quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self._http.server_address[1]}"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)
