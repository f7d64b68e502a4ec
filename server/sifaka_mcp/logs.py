"""Log lines for stderr: one line a record, without secrets, for people or for programs."""

import json
import logging
import re
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TextIO, cast

from sifaka._internal.masking import masked
from sifaka.calls.failure_log import stack_of

_BARE = re.compile(r"[^\s\"'=\\]+")


class _Formatter(logging.Formatter):
    """Puts a record in one form.

    Args:
        verbose: Whether tracebacks have the words of the exceptions after all.
    """

    def __init__(self, *, verbose: bool = False) -> None:
        super().__init__()
        self._verbose = verbose


class LineFormatter(_Formatter):
    """`LEVEL component message key=value ...`, values in quotes where they need them.

    The component and the values are those of `sifaka.calls.failure_log.report_failure`; other
    records have their logger's name. A traceback follows in indented lines. Those of libraries are
    without the words of the exceptions, which may quote the text under review.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line, and the lines of its traceback."""
        data = _data_of(record)
        component = str(data.pop("component"))
        message = _message_of(record).removeprefix(f"{component} ")
        line = " ".join(
            [
                record.levelname,
                _escape(masked(component)),
                _escape(masked(message)),
                *(f"{key}={_format_value(value)}" for key, value in data.items()),
            ]
        )
        return "\n".join([line, *(f"  {each}" for each in _traceback_lines(record, self._verbose))])


class JsonFormatter(_Formatter):
    """A JSON object a record: `time`, `level`, `logger`, `message`, `component` and the values."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of ASCII."""
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": masked(_message_of(record)),
        }
        entry |= {
            key: value if isinstance(value, bool | int | float) else masked(str(value))
            for key, value in _data_of(record).items()
        }
        if lines := list(_traceback_lines(record, self._verbose)):
            entry["traceback"] = lines
        return json.dumps(entry)


def configure(
    level: str,
    stream: TextIO | None = None,
    *,
    as_json: bool = False,
) -> None:
    """Log to a stream from now on, unless an embedding program has set up logging already.

    Args:
        level: Name of the lowest level to log. At DEBUG, other libraries' tracebacks have
            the exceptions' words.
        stream: Standard error when None. Never standard output, which carries the protocol.
        as_json: JSON objects instead of lines.
    """
    formatter = JsonFormatter if as_json else LineFormatter
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter(verbose=level == "DEBUG"))
    if level == "WARNING":
        handler.addFilter(_is_for_users)
    logging.basicConfig(level=level, handlers=[handler])
    # Its line for each request has the whole URL, and so the query to a source.
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def _is_for_users(record: logging.LogRecord) -> bool:
    """True for what we say, and for errors: libraries warn those who program with them."""
    return record.levelno >= logging.ERROR or record.name.startswith("sifaka")


def _data_of(record: logging.LogRecord) -> dict[str, object]:
    """The record as data: always a component, and each value that is known."""
    extra = getattr(record, "sifaka", None)
    values = cast("dict[str, object]", extra) if isinstance(extra, dict) else {}
    return {"component": record.name} | {k: v for k, v in values.items() if v is not None}


def _message_of(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # a library's mistake in its own arguments
        return str(record.msg)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = masked(str(value))
    if text.isprintable() and _BARE.fullmatch(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_escape(quoted)}"'


def _escape(text: str) -> str:
    """The text with what moves the cursor, breaks the line or reorders it made visible."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def _traceback_lines(record: logging.LogRecord, verbose: bool) -> Iterator[str]:
    error = record.exc_info[1] if record.exc_info else None
    lines: Iterable[str] = getattr(record, "sifaka_stack", ())
    if error is not None and not lines:
        lines = traceback.format_exception(error) if verbose else stack_of(error)
    for chunk in lines:
        for line in chunk.splitlines():
            yield _escape(masked(line))
