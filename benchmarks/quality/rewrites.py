"""`python -m benchmarks.quality.rewrites CASES...`: what `compare` asks of labelled rewrites."""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sifaka.text.differences import Differences, compare

Case = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.rewrites", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("cases", nargs="+", type=Path, help="JSON lines of labelled rewrites")
    parser.add_argument(
        "--show", action="store_true", help="show each case that is not as labelled"
    )
    options = parser.parse_args()
    for path in options.cases:
        cases = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
        print(*_report(cases, options.show), sep="\n")


def compared(case: Case) -> Differences:
    """The differences of a case; what its rules require counts as a source."""
    required = [
        term for rule in case.get("validators") or () for term in rule.get("required") or ()
    ]
    return compare(case["text"], case["rewrite"], task=case["task"], sources=required)


def open_of(found: Differences) -> list[str]:
    """The open differences, each in words."""
    return [
        f"{each.kind}: {each.before} -> {each.after}"
        for each in found.differences
        if each.status == "open"
    ]


def names_fault(found: Differences, case: Case, *statuses: str) -> bool:
    """True when a difference of these statuses shows one of the words at fault."""
    told = json.dumps(
        [each.model_dump() for each in found.differences if each.status in statuses],
        ensure_ascii=False,
    ).casefold()
    return any(word.casefold() in told for word in case.get("wrong") or ())


def _report(cases: Sequence[Case], show: bool) -> Iterator[str]:
    totals: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for case in cases:
        found = compared(case)
        asked = open_of(found)
        totals[case["label"]] += 1
        if case["label"] == "right":
            totals["taken"] += not asked
            totals["asked"] += len(asked)
            kinds.update(each.partition(":")[0] for each in asked)
            outcome = "asked" if asked else ""
        else:
            caught = names_fault(found, case, "open")
            told = names_fault(found, case, "covered", "noted")
            totals["caught"] += caught
            totals["told"] += told and not caught
            outcome = "" if caught or told else "missed"
        if show and outcome:
            rows = [f"{d.status} {d.kind}: {d.before!r} -> {d.after!r}" for d in found.differences]
            yield "\n    ".join((f"{outcome}: {case['task']!r} {case['text'][:60]!r}", *rows))
    right, wrong = totals["right"], totals["wrong"]
    yield (
        f"right: {totals['taken']} of {right} taken, {totals['asked'] / max(1, right):.2f}"
        f" questions each {dict(kinds)}; wrong: {totals['caught']} of {wrong} caught,"
        f" {totals['told']} told"
    )


if __name__ == "__main__":
    main()
