"""`python -m benchmarks.quality.facts`: the bad rewrites that pass, and the good ones refused."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.quality.facts.measure import SETS, Outcome, SetName, load, outcome
from benchmarks.quality.tables import Table, put_into
from sifaka.validators.facts import allowance_of

MOST_ACCEPTED = 0.02
MOST_REFUSED = 0.03

Outcomes = Mapping[SetName, Sequence[Outcome]]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.facts", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--failures", choices=SETS, help="show the wrong decisions on a set")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the tables into it")
    options = parser.parse_args()
    found: Outcomes = {name: [outcome(case) for case in load(name)] for name in SETS}
    tables = (_totals(found), _groups(found))
    print("\n\n".join(table.as_text() for table in tables))
    if options.failures:
        print(*_failures(found[options.failures]), sep="\n")
    if options.markdown:
        put_into(options.markdown, [(table.name, table.as_markdown()) for table in tables])
    missed = [name for name in SETS if _misses(found[name])]
    if missed:
        sys.exit(f"the goals are missed on {', '.join(missed)}")


def _misses(found: Sequence[Outcome]) -> bool:
    accepted, refused = _wrong(found)
    return accepted > MOST_ACCEPTED * len(found) or refused > MOST_REFUSED * len(found)


def _wrong(found: Sequence[Outcome]) -> tuple[int, int]:
    return sum(not o.caught for o in found), sum(bool(o.refused) for o in found)


def _failures(found: Sequence[Outcome]) -> list[str]:
    return [
        f"{o.case.kind} | {o.case.task} | {'; '.join(o.refused) or 'the bad one passes'}"
        for o in found
        if o.refused or not o.caught
    ]


def _totals(found: Outcomes) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, outcomes in found.items():
        accepted, refused = _wrong(outcomes)
        unknown = sum(not allowance_of(o.case.task).known for o in outcomes)
        share = [f"{n / len(outcomes):.1%}" for n in (accepted, refused)]
        cells = (len(outcomes), accepted, share[0], refused, share[1], unknown)
        rows.append((name.replace("_", " "), *map(str, cells)))
    header = ("set", "cases", "bad accepted", "share", "good refused", "share", "tasks unknown")
    return Table(name="totals", title="Rewrites by set", header=header, rows=tuple(rows))


def _groups(found: Outcomes) -> Table:
    rows: list[tuple[str, ...]] = []
    everything = [o for outcomes in found.values() for o in outcomes]
    for group in sorted({o.case.group for o in everything}):
        cells = [group]
        for outcomes in found.values():
            chosen = [o for o in outcomes if o.case.group == group]
            cells += map(str, (len(chosen), *_wrong(chosen)))
        rows.append(tuple(cells))
    header = ("task", "tuning: cases", "bad accepted", "good refused", "held out: cases",
              "bad accepted", "good refused")  # fmt: skip
    return Table(name="tasks", title="Rewrites by task", header=header, rows=tuple(rows))


if __name__ == "__main__":
    main()
