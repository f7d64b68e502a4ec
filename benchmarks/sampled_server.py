"""The server with a sampler of its processor time, by component: `... FILE ARGUMENTS`.

Each tick of the process' own processor clock notes the component that the event loop's thread is
in; SIGUSR1 begins anew, and SIGUSR2 writes what was noted into the file, as JSON.
"""

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, MappingProxyType

TICK = 0.002
"""Seconds of processor time."""
COMPONENTS: Mapping[str, str] = MappingProxyType(
    {
        "sifaka/models/": "model calls: questions, answers, journal keys",
        "sifaka/calls/": "model calls: ledger, journal, fan-out",
        "sifaka/critics/": "critics",
        "sifaka/chain/": "the loop",
        "sifaka/record/": "the record: entries and runs",
        "sifaka/_internal/": "the record: entries and runs",
        "sifaka/storage/": "the store",
        "sifaka/editor/": "the editor",
        "sifaka/validators/": "facts and validators",
        "sifaka/text/": "facts and validators",
        "sifaka_mcp/": "the server",
        "pydantic_ai/": "PydanticAI",
        "genai_prices/": "PydanticAI",
        "httpx2/": "the provider's connection",
        "httpcore2/": "the provider's connection",
        "h11/": "the provider's connection",
        "redis/": "Redis' client",
        "docket/": "the queue",
        "mcp/": "the protocol and HTTP",
        "mcp_types/": "the protocol and HTTP",
        "starlette/": "the protocol and HTTP",
        "uvicorn/": "the protocol and HTTP",
        "sse_starlette/": "the protocol and HTTP",
        "jsonschema/": "the protocol and HTTP",
    }
)
"""The components, by a part of the path of the innermost file that belongs to one."""
_REST = "the event loop and the rest"
_of_file: dict[str, str | None] = {}


def component_of(frame: FrameType | None) -> str:
    """The component of the innermost frame that belongs to one."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name not in _of_file:
            found = [part for part in COMPONENTS if f"/{part}" in name]
            _of_file[name] = COMPONENTS[found[-1]] if found else None
        if (component := _of_file[name]) is not None:
            return component
        frame = frame.f_back
    return _REST


def main() -> None:
    path = Path(sys.argv.pop(1))
    counts: Counter[str] = Counter()
    begun = [0.0, 0.0]

    def note(_: int, frame: FrameType | None) -> None:
        counts[component_of(frame)] += 1

    def begin(*_: object) -> None:
        counts.clear()
        begun[:] = time.process_time(), time.thread_time()

    def write(*_: object) -> None:
        spent, here = time.process_time() - begun[0], time.thread_time() - begun[1]
        sampled = max(1, counts.total())
        seconds = {name: here * count / sampled for name, count in counts.items()}
        seconds["other threads"] = spent - here
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(seconds), encoding="utf-8")
        beside.replace(path)

    signal.signal(signal.SIGPROF, note)
    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, write)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    from sifaka_mcp.cli import serve_main

    serve_main()


if __name__ == "__main__":
    main()
