"""Lists and search results of several stores as one."""

from collections.abc import AsyncGenerator, Sequence

from sifaka.record.run import RunSummary
from sifaka.storage.cursor import position
from sifaka.storage.fusion import weight
from sifaka.storage.protocol import Hit


async def merge_runs(*lists: AsyncGenerator[RunSummary]) -> AsyncGenerator[RunSummary]:
    """Lists that are newest first as one; a run that is in several is told once, at its newest."""
    heads = {number: await anext(lines, None) for number, lines in enumerate(lists)}
    seen: set[str] = set()
    while left := {number: line for number, line in heads.items() if line}:
        newest = max(left, key=lambda number: position(left[number]))
        if left[newest].run_id not in seen:
            seen.add(left[newest].run_id)
            yield left[newest]
        heads[newest] = await anext(lists[newest], None)


def merge_hits(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Results whose scores cannot be compared, by their ranks; the same version counts once."""
    best: dict[tuple[str, str], Hit] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, 1):
            ranked = hit.model_copy(update={"score": weight(rank)})
            known = best.setdefault((hit.run_id, hit.thought_id), ranked)
            if ranked.score > known.score:
                best[hit.run_id, hit.thought_id] = ranked
    return tuple(sorted(best.values(), key=lambda hit: hit.score, reverse=True))
