from collections.abc import Awaitable, Callable

import pytest

from sifaka.record.entries import Decided, Decision, Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import Filters, ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
FILLER = "Nothing else of any interest happens in this place, as usual. "


async def found(store: ThoughtStore, query: str) -> list[str]:
    return [hit.thought_id for hit in (await store.search(query, limit=50)).hits]


async def test_words_are_found_in_texts_and_in_tasks(store: ThoughtStore, keep: Keep) -> None:
    zebra = await keep(store, "The zebra sleeps.", prompt="Write about stripes.")
    await keep(store, "The lion sleeps.", prompt="Write about manes.")

    assert await found(store, "zebra") == [zebra.thoughts[0].id]
    assert await found(store, "stripes") == [zebra.thoughts[0].id]
    assert await found(store, "giraffe") == []


async def test_case_accents_and_punctuation_do_not_matter(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "Das CAFÉ, «Größe» e-mail; naïve: 3.14!")

    for query in ("cafe", "CAFÉ", "café?", "größe", "e-mail", "mail", "naive", "3.14", "14"):
        assert await found(store, query) == [run.thoughts[0].id], query


async def test_a_hit_says_where_and_when(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, FILLER * 30 + "Then the pangolin\narrives. " + FILLER * 30)

    hits = await store.search("pangolin", limit=5)

    assert hits.search.startswith(("bm25", "hybrid"))
    (hit,) = hits.hits
    assert (hit.run_id, hit.thought_id) == (run.run_id, run.thoughts[0].id)
    assert hit.created_at == run.thoughts[0].created_at
    assert hit.score > 0
    assert "the **pangolin** arrives" in hit.snippet
    assert len(hit.snippet) < 300


async def test_a_snippet_of_endless_words_is_short(store: ThoughtStore, keep: Keep) -> None:
    await keep(store, "x" * 100_000 + " needle " + "y" * 100_000)

    (hit,) = (await store.search("needle", limit=1)).hits

    assert len(hit.snippet) <= 300


async def test_a_task_that_matches_is_shown_as_the_snippet(store: ThoughtStore, keep: Keep) -> None:
    await keep(store, "Dear all.", prompt="Write to the walrus club.")

    (hit,) = (await store.search("walrus", limit=1)).hits

    assert "**walrus** club" in hit.snippet


async def test_each_version_that_matches_is_one_hit(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "otter otter otter", "no such animal", "an otter", prompt="x")

    ids = await found(store, "otter")

    assert sorted(ids) == [run.thoughts[0].id, run.thoughts[2].id]


async def test_a_version_appended_later_is_found(store: ThoughtStore) -> None:
    started = Started(prompt="Name an animal.")
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    assert await found(store, "animal") == []

    entry = Drafted(thought=Thought(run_id=run.run_id, text="Capybara."))
    after = run.apply(entry)
    for _ in range(2):
        await store.append(after, [entry], expected_version=1)

    assert await found(store, "capybara") == [entry.thought.id]
    assert await found(store, "animal") == [entry.thought.id]


async def test_better_matches_come_first(store: ThoughtStore, keep: Keep) -> None:
    for _ in range(20):
        await keep(store, FILLER)
    passing = await keep(store, FILLER * 20 + "A heron.")
    task_only = await keep(store, FILLER, prompt="About a heron.")
    dense = await keep(store, "The heron waits. The heron fishes.")
    both = await keep(store, "The heron and the stork wait. The heron fishes.")

    ids = await found(store, "heron stork")

    assert ids[:2] == [both.thoughts[0].id, dense.thoughts[0].id]
    assert sorted(ids[2:]) == sorted([passing.thoughts[0].id, task_only.thoughts[0].id])
    scores = [hit.score for hit in (await store.search("heron stork", limit=9)).hits]
    assert scores == sorted(scores, reverse=True)


async def test_a_word_that_every_text_has_still_scores_above_zero(
    store: ThoughtStore, keep: Keep
) -> None:
    for _ in range(4):
        await keep(store, "the same")

    hits = (await store.search("the same", limit=9)).hits

    assert len(hits) == 4
    assert all(hit.score > 0 for hit in hits)


async def test_no_more_hits_than_asked_for(store: ThoughtStore, keep: Keep) -> None:
    for n in range(8):
        await keep(store, "badger " * (n + 1))

    best = (await store.search("badger", limit=9)).hits
    assert (await store.search("badger", limit=3)).hits == best[:3]


@pytest.mark.parametrize(
    "query",
    [
        '" OR 1=1 --',
        "NEAR(",
        "*",
        "a AND",
        "NOT",
        "text:secret",
        "^start",
        "{a b}: c",
        "a + b -c",
        "'; DROP TABLE runs; --",
        "\0",
        "x\0y",
        "\ud800",
        "日本語",
        "🦥 ª ²",
        "(((" * 2000,
        " ".join(f"word{n}" for n in range(20_000)),
        "w" * 200_000,
    ],
    ids=lambda query: ascii(query[:14]),
)
async def test_any_string_is_a_query(store: ThoughtStore, keep: Keep, query: str) -> None:
    run = await keep(store, "Cranes dance.")

    hits = (await store.search(query, limit=5)).hits

    assert all(hit.run_id == run.run_id for hit in hits)
    assert await found(store, f"cranes {query}") == [run.thoughts[0].id]


@pytest.mark.parametrize("query", ["", " \n\t", "?!", '"""', "--", "***", "_", "🦥"])
async def test_a_query_without_a_word_finds_nothing(
    store: ThoughtStore, keep: Keep, query: str
) -> None:
    await keep(store, "Cranes dance -- ?! _ 🦥")

    hits = await store.search(query, limit=5)

    assert (hits.hits, hits.search) == ((), "bm25")


async def test_operators_are_words_like_any_other(store: ThoughtStore, keep: Keep) -> None:
    run = await keep(store, "near the old mill")
    await keep(store, "the river")

    assert await found(store, "NEAR(mill)") == [run.thoughts[0].id]
    assert await found(store, "old NOT mill") == [run.thoughts[0].id]


async def test_a_search_looks_only_at_what_its_filters_admit(
    store: ThoughtStore, keep: Keep
) -> None:
    plain = await keep(store, "The zebra sleeps.")
    tagged = await keep(store, "The zebra eats.", tags=("legal", "team/a"))
    passed = await keep(store, "The zebra runs.", tags=("legal",))
    decided = Decided(thought_id=passed.thoughts[0].id, decision=Decision(accepted=True, reason=""))
    after = passed.apply(decided)
    await store.append(after, [decided], expected_version=passed.version)
    moment = tagged.thoughts[0].created_at

    async def runs(**only: object) -> set[str]:
        hits = await store.search("zebra", limit=9, only=Filters.model_validate(only))
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
