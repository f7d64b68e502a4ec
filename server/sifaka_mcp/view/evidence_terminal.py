"""Verdicts on claims for a person at a terminal."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

from sifaka.record.claims import ClaimStatus
from sifaka_mcp.schemas.evidence import ClaimOut, VerifyOut
from sifaka_mcp.view.console import Console, Table, Text
from sifaka_mcp.view.evidence_text import counts, source
from sifaka_mcp.view.lines import flat, short

_STYLES: Mapping[ClaimStatus, str] = MappingProxyType(
    {
        "supported": "green",
        "contradicted": "red",
        "mixed": "red",
        "in_doubt": "red",
        "not_enough_info": "yellow",
        "unverified": "yellow",
    }
)
_LONGEST = 300
"""Characters of a quote; `--json` has all of them."""


def show_verification(out: VerifyOut, stream: TextIO) -> None:
    """Print a table of the claims with their verdicts and the evidence that decides."""
    console = Console(file=stream, highlight=False)
    if out.verdicts:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("verdict", "claim", "evidence"):
            table.add_column(column, overflow="fold")
        for verdict in out.verdicts:
            table.add_row(
                Text(verdict.verdict, style=_STYLES[verdict.verdict]),
                Text(flat(verdict.claim)),
                _evidence(verdict),
            )
        console.print(table)
    for line in out.degraded:
        console.print(Text(f"degraded: {flat(line)}", style="yellow"))
    usage = out.usage
    console.print(
        Text(
            f"\nclaims: {len(out.verdicts)} ({counts(out.counts)}), "
            f"model calls: {usage.model_calls}, {usage.seconds:.2f} s",
            style="bold",
        )
    )


def _evidence(verdict: ClaimOut) -> Text:
    """The cell beside a claim: its deciding evidence, or the reason there is none."""
    told = Text()
    for each in verdict.evidence:
        if each.quote:
            told.append(f"{each.stance.replace('_', ' ')}: {short(flat(each.quote), _LONGEST)!r}\n")
            told.append(f"  {source(each)}\n", style="dim")
    if verdict.reason:
        told.append(f"{flat(verdict.reason)}\n")
    told.rstrip()
    return told
