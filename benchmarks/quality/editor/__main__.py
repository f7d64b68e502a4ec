"""`python -m benchmarks.quality.editor`: what the editor mends, and what it breaks."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.quality.editor.labelled import Sample, SetName, load
from benchmarks.quality.editor.measure import Total, rules, total
from benchmarks.quality.tables import Table, put_into
from sifaka.editor import Tier

SETS: Sequence[SetName] = ("tuning", "held_out", "another_hand")
TIERS: Sequence[Tier] = ("safe", "suggested")

Samples = Mapping[SetName, tuple[Sample, ...]]
Totals = Mapping[tuple[SetName, Tier], Total]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.editor", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--failures", choices=TIERS, help="show what is left of the tuning set")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the totals into it")
    options = parser.parse_args()
    samples: Samples = {name: load(name) for name in SETS}
    totals: Totals = {(name, tier): total(samples[name], tier) for name in SETS for tier in TIERS}
    tables = (summary := _totals(totals), _rules(samples))
    print("\n\n".join(table.as_text() for table in tables))
    if options.failures:
        print(*totals["tuning", options.failures].failures, sep="\n")
    if options.markdown:
        put_into(options.markdown, [(summary.name, summary.as_markdown())])
    missed = [line for tier in TIERS for line in _missed(totals["held_out", tier])]
    if missed:
        sys.exit("; ".join(missed))


def _missed(found: Total) -> list[str]:
    """The goals that the held-out set misses."""
    share = 0.5 if found.fixes == "safe" else 0.65
    lines: list[str] = []
    if found.mended < share * found.mistakes:
        lines.append(f"{found.fixes}: {found.mended / found.mistakes:.0%} mended, goal {share:.0%}")
    if found.fixes == "safe":
        if found.wrong * 200 > found.edits:
            lines.append(f"{found.wrong} of {found.edits} edits wrong, goal 1 in 200")
        if found.broken:
            lines.append(f"{found.broken} traps broken, goal 0")
    return lines


def _totals(totals: Totals) -> Table:
    return Table(
        name="totals",
        title="Edits by tier",
        header=("set", "fixes", "mistakes", "mended", "share", "edits", "wrong", "traps", "broken"),
        rows=tuple(
            (
                name.replace("_", " "),
                tier,
                str(found.mistakes),
                str(found.mended),
                f"{found.mended / found.mistakes:.0%}",
                str(found.edits),
                str(found.wrong),
                str(found.traps),
                str(found.broken),
            )
            for (name, tier), found in totals.items()
        ),
        words=2,
    )


def _rules(samples: Samples) -> Table:
    tuned, held = (rules(samples[name]) for name in SETS[:2])
    names = sorted(tuned.keys() | held.keys())
    rows: list[tuple[str, ...]] = []
    for name in names:
        cells = [name]
        for half in (tuned, held):
            tally = half.get(name)
            cells += (
                [str(n) for n in (tally.safe, tally.right, tally.wrong)] if tally else ["0"] * 3
            )
        rows.append(tuple(cells))
    header = ("rule", "safe", "right", "wrong", "held out: safe", "right", "wrong")
    return Table(name="rules", title="Findings with a fix", header=header, rows=tuple(rows))


if __name__ == "__main__":
    main()
