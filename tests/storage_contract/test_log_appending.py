"""What is appended is there, once and for its tenant alone, until it is deleted."""

from collections.abc import Sequence

import pytest

from sifaka.errors import Fenced, StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import (
    ChainConfig,
    Critiqued,
    Decided,
    Decision,
    Drafted,
    Entry,
    Retrieved,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought, ToolCall
from sifaka.record.usage import Usage
from sifaka.storage.log import read_entries
from sifaka.storage.protocol import ThoughtStore
from tests.storage_contract.runs import keep
from tests.stubs.runs import append, cancel, draft, drafted, listed, race

pytestmark = pytest.mark.anyio


def begun() -> tuple[Run, Started]:
    started = Started(prompt="Say it shorter.")
    return Run.start(started), started


async def test_a_run_of_every_kind_of_entry_is_loaded_as_it_was(log: ThoughtStore) -> None:
    started = Started(
        prompt="Announce it.",
        config=ChainConfig(validators=({"type": "length", "max_words": 120},), max_iterations=5),
    )
    run = Run.start(started)
    first = Thought(
        run_id=run.run_id,
        prompt="Announce it.",
        text="We are very pleased.",
        author="agent",
        model_prompt="Write.",
        tool_calls=(ToolCall(tool_name="clock", arguments={"zone": ["UTC", {"hour": 3}]}),),
        pre_generation_context=(Document(text="It ships on Friday.", score=0.5),),
        usage=Usage(model_calls=1, input_tokens=10, output_tokens=5, cost_usd=None, seconds=0.25),
        metadata={"nested": {"list": [1, 2.5, None, True, "x"]}},
    )
    second = first.next_iteration(iteration=1).with_text("We ship on Friday.")
    issue = Issue.at(first.text, 7, 11, "An intensifier.", severity=2, fix="", safe=True)
    later: Sequence[Entry] = (
        Drafted(thought=first),
        Retrieved(thought_id=first.id, documents=(Document(text="Facts.", id="d1"),)),
        Validated(
            thought_id=first.id,
            results={"length": ValidationResult(passed=False, score=0.4, issues=(issue,))},
        ),
        Critiqued(
            thought_id=first.id,
            feedback=(
                CriticFeedback(critic="lint", verdict="revise", issues=(issue,)),
                CriticFeedback.abstain("judge", "no model"),
            ),
        ),
        Decided(thought_id=first.id, decision=Decision(accepted=True, note="the input")),
        Drafted(thought=second),
        Validated(thought_id=second.id, results={"length": ValidationResult(passed=True)}),
        Decided(thought_id=second.id, decision=Decision(accepted=True, note="passes")),
        Stopped(status="done", stop_reason="passed"),
    )
    await log.append(run, [started], expected_version=0)
    for entry in later:
        run = await append(log, run, entry)

    loaded = await log.load(run.run_id)

    assert loaded == run
    assert loaded.thoughts[1].history == (first.reference(),)


async def test_a_text_comes_back_character_for_character(log: ThoughtStore) -> None:
    for text in (
        *("", "42", "Key x", "null", '"quoted" and \\ back \t slashes\r\n'),
        "naïve café — Ünïcödé, 日本語, עברית, e\u0301, \u200b\ufeff",
        *("👩‍👩‍👧 \U0001f9a5 \U0010ffff \u007f \x01", "70 KB ü " * 9000, "one megabyte " * 81_000),
    ):
        run = await keep(log, text, prompt=text)
        assert await log.load(run.run_id) == run, text[:9]


async def test_ids_are_kept_as_given(log: ThoughtStore) -> None:
    for run_id in ("42", "Key x", "run/../x", "ünï", "'; DROP TABLE runs; --"):
        started = Started(run_id=run_id)
        run = Run.start(started)
        await log.append(run, [started], expected_version=0)
        run = await append(log, run, Drafted(thought=Thought(run_id=run_id, id="Key y", text="x")))
        loaded = await log.load(run_id)
        assert loaded.run_id == run_id
        assert loaded.thoughts[0].id == "Key y"
        assert loaded == run


async def test_a_repeated_append_is_done_already(log: ThoughtStore) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    entry = drafted(run, "once")
    after = await append(log, run, entry)

    await log.append(after, [entry], expected_version=1)
    await log.append(run, [started], expected_version=0)
    await log.append(after, [started, entry], expected_version=0)

    loaded = await log.load(run.run_id)
    assert loaded == after
    assert len(loaded.thoughts) == 1
    (line,) = (await log.recent(limit=5)).runs
    assert line == after.summary()


async def test_another_entry_at_a_taken_place_is_a_conflict(log: ThoughtStore) -> None:
    run = await keep(log)
    mine = drafted(run, "mine")
    after = await append(log, run, mine)
    with pytest.raises(VersionConflict) as caught:
        await append(log, run, drafted(run, "theirs"))
    assert (caught.value.run_id, caught.value.expected, caught.value.found) == (run.run_id, 1, 2)
    assert await log.load(run.run_id) == after


async def test_an_append_beyond_the_end_is_a_conflict(log: ThoughtStore) -> None:
    run, started = begun()
    entry = drafted(run, "early")
    with pytest.raises(VersionConflict) as caught:
        await log.append(run.apply(entry), [entry], expected_version=1)
    assert caught.value.found == 0
    with pytest.raises(ThoughtNotFound):
        await log.load(run.run_id)

    await log.append(run, [started], expected_version=0)
    later = drafted(run.apply(entry), "later")
    with pytest.raises(VersionConflict):
        await log.append(run.apply(entry).apply(later), [later], expected_version=2)
    assert await log.load(run.run_id) == run


async def test_an_append_of_nothing_only_checks_the_version(log: ThoughtStore) -> None:
    run = await keep(log)
    await log.append(run, [], expected_version=1)
    assert await log.load(run.run_id) == run
    with pytest.raises(VersionConflict):
        await log.append(run.apply(drafted(run, "x")), [], expected_version=2)
    await draft(log, run, "theirs")
    with pytest.raises(VersionConflict):
        await log.append(run, [], expected_version=1)


async def test_an_append_that_could_never_be_loaded_is_refused(log: ThoughtStore) -> None:
    run, started = begun()
    entry = drafted(run, "x")
    for impossible, entries, expected in (
        (run, [entry], 0),
        (run.apply(entry), [started], 0),
        (run.apply(entry), [started], 1),
        (run, [Started(run_id="another")], 0),
    ):
        with pytest.raises(ValueError, match="entr"):
            await log.append(impossible, entries, expected_version=expected)
    with pytest.raises(ThoughtNotFound):
        await log.load(run.run_id)


async def test_text_that_is_not_unicode_is_refused_and_nothing_is_kept(log: ThoughtStore) -> None:
    run = await keep(log)
    thought = Thought(run_id=run.run_id, metadata={"half": "\ud83d"})
    with pytest.raises(StorageError, match=f"entry 2 of run '{run.run_id}'"):
        await append(log, run, Drafted(thought=thought))
    assert await log.load(run.run_id) == run


async def test_a_thought_is_saved_and_loaded_by_itself(log: ThoughtStore) -> None:
    parent = Thought(prompt="Announce it.", text="We are pleased.")
    thought = parent.next_iteration().with_text("It ships.", author="agent", metadata={"a": [1]})
    assert await log.save(thought) == await log.save(thought) == thought.id
    assert await log.load_thought(thought.id) == thought
    judged = thought.add_validation_result("length", ValidationResult(passed=True))
    await log.save(judged)
    await log.save(parent)
    assert await log.load_thought(thought.id) == judged
    assert await log.load_thought(parent.id) == parent
    with pytest.raises(StorageError, match="kept with another text"):
        await log.save(thought.with_text("It is late."))
    run = await keep(log)
    run = await append(log, run, drafted(run, "It is short."))
    assert await log.load_thought(run.thoughts[0].id) == run.thoughts[0]
    await log.delete(thought.id)
    for unknown in (thought.id, "nothing", "run_0.7", ""):
        with pytest.raises(ThoughtNotFound):
            await log.load_thought(unknown)


async def test_an_unknown_run_is_not_found(log: ThoughtStore) -> None:
    run = await keep(log, "x")
    for unknown in ("", "run_0", f"{run.run_id}.0", f"{run.run_id[:-1]}%", "\ud800", "a\0b"):
        with pytest.raises(ThoughtNotFound) as caught:
            await log.load(unknown)
        assert caught.value.thought_id == unknown


@pytest.mark.slow
@pytest.mark.long("cached", "hybrid")
async def test_a_run_of_1000_iterations_keeps_its_whole_descent(log: ThoughtStore) -> None:
    run = await keep(log)
    for iteration in range(1001):
        parent = run.latest
        thought = parent.next_iteration() if parent else Thought(run_id=run.run_id)
        accepted = Decision(accepted=iteration % 2 == 0, note="compared")
        entries = (
            Drafted(thought=thought.with_text(f"v{iteration}")),
            Decided(thought_id=thought.id, decision=accepted),
        )
        known = run.version
        for entry in entries:
            run = run.apply(entry)
        await log.append(run, entries, expected_version=known)

    loaded = await log.load(run.run_id)

    assert _without_descent(loaded) == _without_descent(run)
    assert loaded.iterations == 1000
    # As values half a million references take long to compare.
    for thought, made in zip(loaded.thoughts, run.thoughts, strict=True):
        ids = [reference.thought_id for reference in thought.history]
        assert ids == [reference.thought_id for reference in made.history]
    assert [r.iteration for r in loaded.thoughts[-1].history] == list(range(1000))


def _without_descent(run: Run) -> Run:
    thoughts = tuple(thought.model_copy(update={"history": ()}) for thought in run.thoughts)
    return run.model_copy(update={"thoughts": thoughts})


@pytest.mark.slow
@pytest.mark.long("cached", "hybrid")
async def test_sixteen_writers_of_one_run_lose_and_double_nothing(log: ThoughtStore) -> None:
    await race([log], await keep(log), writers=16, each=3)


async def test_who_was_replaced_is_refused_and_changes_nothing(log: ThoughtStore) -> None:
    run = await keep(log, "x")
    old, new = [await log.claim(run.run_id) for _ in range(2)]

    with pytest.raises(Fenced) as caught:
        await draft(log, run, "late", fence=old)
    assert (caught.value.run_id, caught.value.fence, caught.value.current) == (run.run_id, old, new)
    with pytest.raises(Fenced):
        await draft(log, run, "late", fence=0)
    with pytest.raises(Fenced):  # one that asks before it does something costly
        await log.append(run, [], expected_version=run.version, fence=old)
    await log.append(run, [], expected_version=run.version, fence=new)

    assert await log.load(run.run_id) == run
    after = await draft(log, run, "in time", fence=new)
    assert await log.load(run.run_id) == after


async def test_who_created_a_run_goes_on_until_it_is_claimed(log: ThoughtStore) -> None:
    run = await draft(log, await keep(log, "x"), "y", fence=0)
    await log.claim(run.run_id)
    with pytest.raises(Fenced):
        await draft(log, run, "z", fence=0)


async def test_an_append_without_a_fence_asks_for_no_claim(log: ThoughtStore) -> None:
    run = await keep(log, "x")
    fence = await log.claim(run.run_id)
    cancelled = await cancel(log, run)
    with pytest.raises(VersionConflict):
        await draft(log, run, "y", fence=fence)
    assert await log.load(run.run_id) == cancelled


async def test_a_repeat_of_what_is_stored_is_done_already_after_any_claim(
    log: ThoughtStore,
) -> None:
    run = await keep(log, "x")
    fence = await log.claim(run.run_id)
    entry = drafted(run, "y")
    await append(log, run, entry, fence)
    await log.claim(run.run_id)
    after = await append(log, run, entry, fence)
    assert await log.load(run.run_id) == after


async def test_a_run_that_is_unknown_cannot_be_claimed(log: ThoughtStore) -> None:
    run = await keep(log, "x")
    for view, run_id in ((log, "run_0"), (log, "\ud800"), (log.scoped("guest"), run.run_id)):
        with pytest.raises(ThoughtNotFound):
            await view.claim(run_id)


async def test_a_run_that_is_deleted_is_nowhere_any_more(log: ThoughtStore) -> None:
    run = await keep(log, "The zebra sleeps.", "The zebra wakes.", prompt="stripes")
    kept = await keep(log, "The zebra eats.")
    await log.delete(run.run_id)
    for _ in range(2):
        with pytest.raises(ThoughtNotFound):
            await log.load(run.run_id)
        assert await listed(log) == [kept.run_id]
        await log.delete(run.run_id)  # a second time, and one that never was
        await log.delete("run_0")


async def test_a_run_of_the_same_id_begins_anew(log: ThoughtStore) -> None:
    run = await keep(log, "x")
    await log.claim(run.run_id)
    _, entries = await read_entries(log, run.run_id, run.version)
    await log.delete(run.run_id)
    await log.append(run, entries, expected_version=0, fence=0)
    assert await log.load(run.run_id) == run


async def test_a_foreign_run_is_as_unknown_as_none(log: ThoughtStore) -> None:
    run = await keep(log.scoped("ann"), "a secret plan")
    bob = log.scoped("bob")
    assert await bob.scoped("ann").load(run.run_id) == run
    with pytest.raises(ThoughtNotFound) as foreign:
        await bob.load(run.run_id)
    with pytest.raises(ThoughtNotFound) as unknown:
        await bob.load("run_nobody")
    assert str(foreign.value).replace(run.run_id, "?") == (
        str(unknown.value).replace("run_nobody", "?")
    )


async def test_lists_show_the_tenants_own_runs(log: ThoughtStore) -> None:
    ann, bob = log.scoped("ann"), log.scoped("bob")
    anns = await keep(ann, "a secret plan")
    bobs = await keep(bob, "a secret garden")
    assert await listed(ann) == [anns.run_id]
    assert await listed(bob) == [bobs.run_id]
    assert (await log.recent(limit=9)).runs == ()


async def test_another_tenants_cursor_shows_nothing_of_theirs(log: ThoughtStore) -> None:
    ann, bob = log.scoped("ann"), log.scoped("bob")
    mine = await keep(bob, "x")
    for _ in range(2):
        await keep(ann, "x")
    cursor = (await ann.recent(limit=1)).next_cursor
    page = await bob.recent(limit=9, cursor=cursor)
    assert [line.run_id for line in page.runs] == [mine.run_id]
