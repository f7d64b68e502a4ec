"""Measures the editor on labelled samples."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.quality.editor.judgement import is_right, mended, mistakes
from benchmarks.quality.editor.labelled import Sample
from sifaka.editor import Tier, edit, lint


@dataclass(slots=True)
class Tally:
    """The findings of one rule that name a fix."""

    safe: int = 0
    right: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The results of one tier on one set."""

    fixes: Tier
    mistakes: int
    mended: int
    edits: int
    wrong: int
    """Edits after which the text is no nearer to its corrected version."""
    traps: int
    broken: int
    """Traps that were edited."""
    by_kind: Counter[str] = field(default_factory=Counter[str])
    """Mended mistakes of each kind."""
    failures: tuple[str, ...] = ()
    """The texts that are not right afterwards, and as they are then."""


def rules(samples: Sequence[Sample]) -> dict[str, Tally]:
    """The findings with a fix, by rule."""
    found: dict[str, Tally] = defaultdict(Tally)
    for sample in samples:
        for issue in lint(sample.text).issues:
            if issue.fix is None:
                continue
            tally = found[issue.rule or issue.category]
            tally.safe += issue.safe
            start, end = issue.start or 0, issue.end or 0
            if is_right(sample.text, start, end, issue.fix, sample.right):
                tally.right += 1
            else:
                tally.wrong += 1
    return dict(sorted(found.items()))


def total(samples: Sequence[Sample], fixes: Tier) -> Total:
    """What the edits of one tier come to."""
    seeded = repaired = edits = wrong = broken = 0
    by_kind = Counter[str]()
    failures: list[str] = []
    for sample in samples:
        done = edit(sample.text, fixes=fixes)
        seeded += len(mistakes(sample.text, sample.right))
        count = mended(sample.text, done.text, sample.right)
        by_kind[sample.kind] += count
        repaired += count
        edits += len(done.edits)
        bad = len(list(_strays(sample, done.text)))
        wrong += bad
        broken += sample.corrected is None and done.text != sample.text
        if done.text != sample.right:
            mark = "WRONG " if bad else ""
            failures.append(f"{mark}{sample.kind}: {sample.text!r}\n    {done.text!r}")
    return Total(
        fixes=fixes,
        mistakes=seeded,
        mended=repaired,
        edits=edits,
        wrong=wrong,
        traps=sum(sample.corrected is None for sample in samples),
        broken=broken,
        by_kind=by_kind,
        failures=tuple(failures),
    )


def _strays(sample: Sample, edited: str) -> Iterator[str]:
    """The changes that do not lead to the corrected version."""
    for change in mistakes(sample.text, edited):
        if not is_right(sample.text, change.start, change.end, change.fix, sample.right):
            yield change.fix
