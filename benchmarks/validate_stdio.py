"""The time of a call of `validate_text` over stdio, against a server that does nothing."""

import tempfile
from statistics import median

import anyio
from mcp import Client, StdioServerParameters

from benchmarks.calls import ECHO, VALIDATE, seconds_of
from benchmarks.report import Figure, Report
from benchmarks.samples import percentile
from benchmarks.servers import BARE, ROOT, SIFAKA, environment

CALLS = 400
WARM_UP = 400
GOAL = 1.5
ECHOES = ("echo", "echo_structured")


def measure() -> Report:
    """All servers at the same time, called in turn, in each era of the protocol."""
    return Report(
        title="validate_stdio: validate_text over stdio against an echo of the same text",
        method=f"A text of 300 words; validate_text with length and content. {CALLS} calls of each "
        f"kind after {WARM_UP} to warm up, in turn and in changing order, each kind to a server of "
        "its own by one mcp.Client. The reference is the tool `echo` of a bare MCPServer, which "
        "returns the text unstructured; `echo_structured` returns it as text and as data, with an "
        "output schema, as ours does.",
        figures=(*anyio.run(_era, "auto"), *anyio.run(_era, "legacy")),
    )


async def _era(era: str) -> list[Figure]:
    taken: dict[str, list[float]] = {tool: [] for tool in ("validate_text", *ECHOES)}
    with tempfile.TemporaryDirectory() as home:
        async with (
            Client(_parameters(SIFAKA, home), mode=era) as ours,
            Client(_parameters(BARE, home), mode=era) as bare,
            Client(_parameters(BARE, home), mode=era) as structured,
        ):
            version = ours.protocol_version
            kinds = (
                (ours, "validate_text", VALIDATE),
                (bare, "echo", ECHO),
                (structured, "echo_structured", ECHO),
            )
            for number in range(WARM_UP + CALLS):
                first = number % len(kinds)
                for client, tool, arguments in (*kinds[first:], *kinds[:first]):
                    seconds = await seconds_of(client, tool, arguments)
                    if number >= WARM_UP:
                        taken[tool].append(seconds)
    ms = {tool: [seconds * 1000 for seconds in samples] for tool, samples in taken.items()}
    p50 = {tool: median(samples) for tool, samples in ms.items()}
    figures = [
        Figure(
            what=f"{version} validate_text / {echo}",
            value=p50["validate_text"] / p50[echo],
            unit="x",
            most=GOAL if echo == "echo" else None,
        )
        for echo in ECHOES
    ]
    for tool in ms:
        figures += [
            Figure(what=f"{version} {tool} p50", value=p50[tool], unit="ms"),
            Figure(what=f"{version} {tool} p95", value=percentile(ms[tool], 95), unit="ms"),
        ]
    return figures


def _parameters(command: tuple[str, ...], home: str) -> StdioServerParameters:
    program, *arguments = command
    return StdioServerParameters(
        command=program, args=arguments, env=environment(home), cwd=str(ROOT)
    )
