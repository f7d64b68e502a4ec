"""What is put into an index is found, for its tenant alone, until it is dropped or has expired."""

from pathlib import Path

import anyio
import pytest

from sifaka.record.run import Run
from sifaka.storage.protocol import Filters, SearchIndex
from tests.storage_contract.index_kinds import Index
from tests.storage_contract.runs import accepted, made, next_draft

pytestmark = pytest.mark.anyio

FILLER = "Nothing else of any interest happens in this place, as usual. "


async def keep(
    index: SearchIndex, *texts: str, prompt: str = "", tags: tuple[str, ...] = ()
) -> Run:
    run = made(*texts, prompt=prompt, tags=tags)
    await index.put(run)
    return run


async def found(index: SearchIndex, query: str) -> list[str]:
    return [hit.thought_id for hit in (await index.search(query, limit=50)).hits]


async def test_words_are_found_in_texts_and_in_tasks(index: SearchIndex) -> None:
    zebra = await keep(index, "The zebra sleeps.", prompt="Write about stripes.")
    await keep(index, "The lion sleeps.", prompt="Write about manes.")
    assert await found(index, "zebra") == [zebra.thoughts[0].id]
    assert await found(index, "stripes") == [zebra.thoughts[0].id]
    assert await found(index, "giraffe") == []


async def test_case_accents_and_punctuation_do_not_matter(index: SearchIndex) -> None:
    run = await keep(index, "Das CAFÉ, «Größe» e-mail; naïve: 3.14!")
    for query in ("cafe", "CAFÉ", "café?", "größe", "e-mail", "mail", "naive", "3.14", "14"):
        assert await found(index, query) == [run.thoughts[0].id], query


async def test_a_hit_says_where_and_when(index: SearchIndex) -> None:
    run = await keep(index, FILLER * 30 + "Then the pangolin\narrives. " + FILLER * 30)
    hits = await index.search("pangolin", limit=5)
    assert hits.search.startswith(("bm25", "hybrid"))
    (hit,) = hits.hits
    assert (hit.run_id, hit.thought_id) == (run.run_id, run.thoughts[0].id)
    assert hit.created_at == run.thoughts[0].created_at
    assert hit.score > 0
    assert "the **pangolin** arrives" in hit.snippet
    assert len(hit.snippet) < 300


async def test_a_version_that_is_put_later_is_found(index: SearchIndex) -> None:
    run = made(prompt="Name an animal.")
    await index.put(run)
    assert await found(index, "animal") == []

    first = run.apply(next_draft(run, "Capybara."))
    for _ in range(2):
        await index.put(first)
    after = first.apply(next_draft(first, "Tapir."))
    await index.put(after, first=1)

    assert await found(index, "capybara") == [after.thoughts[0].id]
    assert await found(index, "tapir") == [after.thoughts[1].id]
    assert sorted(await found(index, "animal")) == [thought.id for thought in after.thoughts]


async def test_better_matches_come_first(index: SearchIndex) -> None:
    for _ in range(20):
        await keep(index, FILLER)
    passing = await keep(index, FILLER * 20 + "A heron.")
    task_only = await keep(index, FILLER, prompt="About a heron.")
    dense = await keep(index, "The heron waits. The heron fishes.")
    both = await keep(index, "The heron and the stork wait. The heron fishes.")

    ids = await found(index, "heron stork")

    assert ids[:2] == [both.thoughts[0].id, dense.thoughts[0].id]
    assert sorted(ids[2:]) == sorted([passing.thoughts[0].id, task_only.thoughts[0].id])
    scores = [hit.score for hit in (await index.search("heron stork", limit=9)).hits]
    assert scores == sorted(scores, reverse=True)


async def test_no_more_hits_than_asked_for(index: SearchIndex) -> None:
    for n in range(4):
        await keep(index, "badger " * (n + 1))
    best = (await index.search("badger", limit=9)).hits
    assert (await index.search("badger", limit=3)).hits == best[:3]
    assert [hit.score > 0 for hit in best] == [True] * 4, "a word that every text has"


async def test_any_string_is_a_query(index: SearchIndex) -> None:
    run = await keep(index, "Cranes dance -- ?! _ 🦥")
    for query in (
        *('" OR 1=1 --', "NEAR(", "*", "a AND", "NOT", "text:secret", "^start", "{a b}: c"),
        *("a + b -c", "'; DROP TABLE runs; --", "\0", "x\0y", "\ud800", "日本語", "🦥 ª ²"),
        *("(((" * 2000, " ".join(f"word{n}" for n in range(20_000)), "w" * 200_000),
    ):
        hits = (await index.search(query, limit=5)).hits
        assert all(hit.run_id == run.run_id for hit in hits), query[:14]
        assert await found(index, f"cranes {query}") == [run.thoughts[0].id], query[:14]
    for wordless in ("", " \n\t", "?!", '"""', "--", "***", "_", "🦥"):
        hits = await index.search(wordless, limit=5)
        assert (hits.hits, hits.search) == ((), "bm25"), wordless


async def test_a_search_looks_only_at_what_its_filters_admit(index: SearchIndex) -> None:
    plain = await keep(index, "The zebra sleeps.")
    tagged = await keep(index, "The zebra eats.", tags=("legal", "team/a"))
    passed = await keep(index, "The zebra runs.", tags=("legal",))
    await index.put(accepted(passed))
    moment = tagged.thoughts[0].created_at

    async def runs(**only: object) -> set[str]:
        hits = await index.search("zebra", limit=9, only=Filters.model_validate(only))
        return {hit.run_id for hit in hits.hits}

    assert await runs() == {plain.run_id, tagged.run_id, passed.run_id}
    assert await runs(tags=("legal",)) == {tagged.run_id, passed.run_id}
    assert await runs(tags=("legal", "team/a")) == {tagged.run_id}
    assert await runs(tags=("leg",)) == set()
    assert await runs(passed=True) == {passed.run_id}
    assert await runs(passed=False) == {plain.run_id, tagged.run_id}
    assert await runs(since=moment) == {tagged.run_id, passed.run_id}
    assert await runs(until=moment) == {plain.run_id}
    assert await runs(since=moment, passed=True, tags=("legal",)) == {passed.run_id}


SECONDS = 3.0


async def runs_found(index: SearchIndex, query: str) -> set[str]:
    return {hit.run_id for hit in (await index.search(query, limit=9)).hits}


async def test_every_version_that_was_put_is_read_whole(index: SearchIndex) -> None:
    texts = ("", "naïve café — 日本語, e\u0301, \u200b👩‍👩‍👧 \U0010ffff \x01", "70 KB ü " * 9000)
    run = made("first", *texts, "fifth", prompt="Write it.", tags=("legal",))
    await index.put(run)
    longer = run.apply(next_draft(run, "sixth"))
    await index.put(longer, first=5)
    assert await index.thoughts(run.run_id) == longer.thoughts
    assert await index.scoped("guest").thoughts(run.run_id) == ()
    assert await index.thoughts("run_0") == ()


async def test_a_run_that_is_dropped_is_nowhere_any_more(index: SearchIndex) -> None:
    run, kept = made("The zebra sleeps.", prompt="stripes"), made("The zebra eats.")
    await index.put(run)
    await index.put(kept)
    for _ in range(2):  # a second time, and one that never was
        await index.drop(run.run_id)
        await index.drop("run_0")
        assert await runs_found(index, "zebra stripes") == {kept.run_id}
        assert await index.thoughts(run.run_id) == ()
    await index.put(run)
    assert await runs_found(index, "stripes") == {run.run_id}


async def test_a_search_shows_the_tenants_own_runs(index: SearchIndex) -> None:
    ann, bob = index.scoped("ann"), index.scoped("bob")
    anns, bobs = made("a secret plan"), made("a secret garden")
    await ann.put(anns)
    await bob.put(bobs)
    assert await runs_found(ann, "secret") == {anns.run_id}
    assert await runs_found(bob, "plan") == set()
    await bob.drop(anns.run_id)
    assert await runs_found(ann, "plan") == {anns.run_id}
    assert await runs_found(index, "secret") == set()


@pytest.mark.slow
async def test_an_index_that_works_says_so(index: SearchIndex) -> None:
    await index.put(made("x"))
    while await index.catch_up():
        pass
    assert index.place
    assert all(part.works for part in await index.health())


@pytest.mark.slow
async def test_a_run_that_has_expired_is_found_no_more(index_kind: Index, tmp_path: Path) -> None:
    if not index_kind.expires:
        pytest.skip("indexes of this kind keep runs until they are dropped")
    index = index_kind.make(tmp_path / "index", SECONDS)
    run, other = made("The zebra sleeps."), made("The zebra eats.")
    await index.put(other)
    await index.put(run)

    with anyio.fail_after(60):
        while other.run_id in await runs_found(index, "zebra"):
            run = run.apply(next_draft(run, "The zebra runs."))
            await index.put(run, first=len(run.thoughts) - 1)
            await anyio.sleep(SECONDS / 10)
    assert run.run_id in await runs_found(index, "zebra sleeps")
    with anyio.fail_after(60):
        while await runs_found(index, "zebra"):  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(0.05)
    while await index.catch_up():
        pass
    assert await index.thoughts(other.run_id) == ()
    await index.aclose()
