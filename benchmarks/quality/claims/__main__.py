"""`python -m benchmarks.quality.claims`: which claims pass as supported, whatever a judge says."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from benchmarks.quality.claims.attacks import ROUNDS, attacked
from benchmarks.quality.claims.floors import FLOORS, Effect, KnownTexts, effect
from benchmarks.quality.claims.judges import HONEST, JUDGES
from benchmarks.quality.claims.labelled import Kind, SetName, load
from benchmarks.quality.claims.measure import Counts, judged, of
from benchmarks.quality.tables import Table, put_into
from sifaka.embeddings import open_embedder
from sifaka.evidence.claims.meaning import MeaningFloor

SETS: Sequence[SetName] = ("tuning", "held_out")
RULES, LIAR = "rules", "supports, nearest sentence"
_KINDS: Sequence[tuple[str, bool, Kind | None, str]] = (
    ("verbatim", True, "verbatim", "near"),
    ("trivially reworded", True, "reworded", "near"),
    ("a number changed", False, "number", "near"),
    ("a unit changed", False, "unit", "near"),
    ("a name changed", False, "name", "near"),
    ("negation changed", False, "negated", "near"),
    ("true, in other words", True, None, "own"),
    ("false, in other words", False, None, "own"),
)
"""The rows of the table of the rules: the claims by what is so of them."""
MOST_FALSE, MOST_REFUSED = 0.02, 0.10

Totals = Mapping[tuple[SetName, str], Counts]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.claims", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the tables into it")
    parser.add_argument(
        "--embedder",
        action="append",
        default=[],
        metavar="NAME",
        help="measure the floor of meaning with this model too, such as model2vec:/folder",
    )
    options = parser.parse_args()
    totals, near = anyio.run(_measured), anyio.run(_measured_near)
    tables = [_judges(totals), _rules(totals, near), _attacks()]
    if options.embedder:
        tables.append(_floors(anyio.run(_measured_floors, options.embedder)))
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


async def _measured_near() -> Totals:
    return {
        (name, judge): await judged(pages, JUDGES.get(judge))
        for name in SETS
        for pages in (load(name, near=True),)
        for judge in (LIAR, RULES)
    }


async def _measured_floors(
    names: Sequence[str],
) -> list[tuple[str, MeaningFloor | None, Effect, Effect]]:
    return [
        (embedder.model_id, floor, await effect("tuning", embedder, floor),
         await effect("held_out", embedder, floor))
        for embedder in (KnownTexts(open_embedder(each)) for each in names)
        for floor in FLOORS
    ]  # fmt: skip


def _missed(judge: str, found: Counts) -> list[str]:
    """The goals that the held-out set misses."""
    lines: list[str] = []
    passed = of(found, "supported", is_true=False)
    if passed > MOST_FALSE * of(found, is_true=False):
        lines.append(f"{judge}: {passed} false claims are supported")
    refused = of(found, is_true=True) - of(found, "supported", is_true=True)
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
                str(of(found, "supported", is_true=False)),
                str(of(found, "contradicted", is_true=False)),
                str(of(found, is_true=True)),
                str(of(found, "supported", is_true=True)),
                str(of(found, "contradicted", is_true=True)),
            )
            for judge in JUDGES
            for name in SETS
            for found in (totals[name, judge],)
        ),
        words=2,
    )  # fmt: skip


def _rules(totals: Totals, near: Totals) -> Table:
    return Table(
        name="rules",
        title="The rules alone",
        header=(
            "claims", "set", "number", "supported", "contradicted", "left open", "wrong",
            "supported with a judge who quotes the nearest sentence",
        ),
        rows=tuple(
            (
                what,
                name.replace("_", " "),
                str(of(found, is_true=is_true, kind=kind)),
                str(of(found, "supported", is_true=is_true, kind=kind)),
                str(of(found, "contradicted", is_true=is_true, kind=kind)),
                str(of(found, "unverified", is_true=is_true, kind=kind)),
                str(of(found, "contradicted" if is_true else "supported", is_true=is_true,
                       kind=kind)),
                str(of(lied, "supported", is_true=is_true, kind=kind)),
            )
            for what, is_true, kind, measured in _KINDS
            for name in SETS
            for source in (near if measured == "near" else totals,)
            for found, lied in ((source[name, RULES], source[name, LIAR]),)
        ),
        words=2,
    )  # fmt: skip


def _attacks() -> Table:
    return Table(
        name="attacks",
        title="One word or turn away",
        header=("round", "false", "supported", "true", "refused", "the rules alone wrong"),
        rows=tuple(
            (
                name,
                str(found.false),
                str(len(found.supported)),
                str(found.true),
                str(len(found.refused)),
                str(len(found.wrong)),
            )
            for name in ROUNDS
            for found in (attacked(name),)
        ),
        words=1,
    )


def _floors(found: Sequence[tuple[str, MeaningFloor | None, Effect, Effect]]) -> Table:
    return Table(
        name="floors",
        title="The floor of meaning, by model",
        header=(
            "model", "support", "contradiction",
            "false supported, all four judges", "the worst of them", "true refused",
            "false contradicted", "held out: false supported", "the worst of them",
            "true refused", "false contradicted",
        ),
        rows=tuple(
            (
                model.partition("@")[0],
                "none" if floor is None else f"{floor.least:g}",
                "none" if floor is None else f"{floor.contradicting:g}",
                *(str(number) for half in (tuning, held_out) for number in half),
            )
            for model, floor, tuning, held_out in found
        ),
        words=1,
    )  # fmt: skip


if __name__ == "__main__":
    main()
