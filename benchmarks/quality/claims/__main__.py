"""`python -m benchmarks.quality.claims`: which claims pass as supported, whatever a judge says."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from benchmarks.quality.claims.judges import HONEST, JUDGES
from benchmarks.quality.claims.labelled import SetName, load
from benchmarks.quality.claims.measure import Counts, judged, of
from benchmarks.quality.tables import Table, put_into

SETS: Sequence[SetName] = ("tuning", "held_out")
RULES = "rules"
MOST_FALSE, MOST_REFUSED = 0.02, 0.10

Totals = Mapping[tuple[SetName, str], Counts]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.claims", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the tables into it")
    options = parser.parse_args()
    totals = anyio.run(_measured)
    tables = (_judges(totals), _rules(totals))
    print("\n\n".join(table.as_text() for table in tables))
    if options.markdown:
        put_into(options.markdown, [(table.name, table.as_markdown()) for table in tables])
    missed = [line for judge in JUDGES for line in _missed(judge, totals["held_out", judge])]
    if missed:
        sys.exit("; ".join(missed))


async def _measured() -> Totals:
    return {
        (name, judge): await judged(pages, JUDGES.get(judge))
        for name in SETS
        for pages in (load(name),)
        for judge in (*JUDGES, RULES)
    }


def _missed(judge: str, found: Counts) -> list[str]:
    """The goals that the held-out set misses."""
    lines: list[str] = []
    if found[False, "supported"] > MOST_FALSE * of(found, is_true=False):
        lines.append(f"{judge}: {found[False, 'supported']} false claims are supported")
    refused = of(found, is_true=True) - found[True, "supported"]
    if judge == HONEST and refused > MOST_REFUSED * of(found, is_true=True):
        lines.append(f"{judge}: {refused} true claims are refused")
    return lines


def _judges(totals: Totals) -> Table:
    return Table(
        name="judges",
        title="Claims by judge",
        header=(
            "judge", "set", "false", "false supported", "false contradicted", "true",
            "true supported", "true contradicted",
        ),
        rows=tuple(
            (
                judge,
                name.replace("_", " "),
                str(of(found, is_true=False)),
                str(found[False, "supported"]),
                str(found[False, "contradicted"]),
                str(of(found, is_true=True)),
                str(found[True, "supported"]),
                str(found[True, "contradicted"]),
            )
            for judge in JUDGES
            for name in SETS
            for found in (totals[name, judge],)
        ),
        words=2,
    )  # fmt: skip


def _rules(totals: Totals) -> Table:
    return Table(
        name="rules",
        title="The rules alone",
        header=("set", "supported", "of these true", "contradicted", "of these false", "left open"),
        rows=tuple(
            (
                name.replace("_", " "),
                str(found[True, "supported"] + found[False, "supported"]),
                str(found[True, "supported"]),
                str(found[True, "contradicted"] + found[False, "contradicted"]),
                str(found[False, "contradicted"]),
                str(found[True, "unverified"] + found[False, "unverified"]),
            )
            for name in SETS
            for found in (totals[name, RULES],)
        ),
    )


if __name__ == "__main__":
    main()
