"""The time of a call of `validate_text` over HTTP, against a server that does nothing."""

import tempfile
from collections.abc import Mapping
from statistics import median
from time import perf_counter

import anyio
from mcp import Client

from benchmarks.calls import ECHO, VALIDATE, seconds_of
from benchmarks.report import Figure, Report
from benchmarks.samples import percentile
from benchmarks.servers import BARE, SIFAKA, environment, listening

CALLS = 200
WARM_UP = 30
AT_ONCE = 8
ROUNDS = 5


def measure() -> Report:
    """Both servers at the same time, called in turn: one call after the other, and many at once."""
    with tempfile.TemporaryDirectory() as home:
        ours_http = (*SIFAKA, "--transport", "http", "--port", "0")
        with (
            listening(ours_http, environment(home)) as ours,
            listening((*BARE, "http"), environment(home)) as bare,
        ):
            return anyio.run(_measure, ours, bare)


async def _measure(ours_url: str, bare_url: str) -> Report:
    taken: dict[str, list[float]] = {"validate_text": [], "echo": []}
    rates: dict[str, list[float]] = {"validate_text": [], "echo": []}
    async with Client(ours_url) as ours, Client(bare_url) as bare:
        kinds = ((ours, "validate_text", VALIDATE), (bare, "echo", ECHO))
        for _ in range(WARM_UP + CALLS):
            for client, tool, arguments in kinds:
                taken[tool].append(await seconds_of(client, tool, arguments))
        for _ in range(ROUNDS):
            for client, tool, arguments in kinds:
                started = perf_counter()
                async with anyio.create_task_group() as group:
                    for _ in range(AT_ONCE):
                        group.start_soon(_repeat, client, tool, arguments, CALLS // AT_ONCE)
                rates[tool].append(CALLS / (perf_counter() - started))
    counted = {tool: samples[WARM_UP:] for tool, samples in taken.items()}
    ratio = median(counted["validate_text"]) / median(counted["echo"])
    return Report(
        title="validate_http: validate_text over HTTP against an echo of the same text",
        method=f"A text of 300 words; validate_text with length and content. {CALLS} calls of each "
        f"after {WARM_UP} to warm up, in turn, by one mcp.Client a server; then {ROUNDS} rounds, "
        f"in turn, of {CALLS} calls with {AT_ONCE} at once, of which the median rate is given. The "
        "reference is the tool `echo` of a bare MCPServer, stateless, under uvicorn. Client and "
        "servers share the cores.",
        figures=(
            *(
                Figure(what=f"{tool} {label}", value=value * 1000, unit="ms")
                for tool, samples in counted.items()
                for label, value in (("p50", median(samples)), ("p95", percentile(samples, 95)))
            ),
            Figure(what="validate_text / echo", value=ratio, unit="x"),
            *(
                Figure(what=f"{tool}, {AT_ONCE} at once", value=median(found), unit="calls/s")
                for tool, found in rates.items()
            ),
        ),
    )


async def _repeat(client: Client, tool: str, arguments: Mapping[str, object], count: int) -> None:
    for _ in range(count):
        await seconds_of(client, tool, arguments)
