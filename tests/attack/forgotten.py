"""Forgetting 5,000 of 6,000 runs, timed, and their texts looked for in all files."""

from collections.abc import Generator

from benchmarks import forgetting
from tests.attack.table import Row

SECONDS = 10.0


def forgotten() -> Generator[Row]:
    """A row for each store of the benchmark."""
    figures = {figure.what: figure.value for figure in forgetting.measure().figures}
    for store in dict.fromkeys(what.partition(",")[0] for what in figures):
        wall, processor, left, kept = (
            value for what, value in figures.items() if what.startswith(f"{store},")
        )
        whole = kept == forgetting.RUNS - forgetting.FORGOTTEN
        yield Row(
            fired=f"forgetting {forgetting.FORGOTTEN} of {forgetting.RUNS} runs, {store}",
            must=f"at most {SECONDS:g} s, no text left of {forgetting.SAMPLED}, the others kept",
            measured=f"{wall:.1f} s, {processor:.1f} s of processor time; {left:g} left, "
            f"{kept:g} kept",
            held=wall <= SECONDS and not left and whole,
        )
