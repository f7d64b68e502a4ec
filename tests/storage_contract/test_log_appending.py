from collections.abc import Awaitable, Callable, Sequence

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
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
from sifaka.storage.protocol import ThoughtStore

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


def begun() -> tuple[Run, Started]:
    started = Started(prompt="Say it shorter.")
    return Run.start(started), started


def drafted(run: Run, text: str) -> Drafted:
    return Drafted(thought=Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text))


async def append_one(log: ThoughtStore, run: Run, entry: Entry) -> Run:
    after = run.apply(entry)
    await log.append(after, [entry], expected_version=run.version)
    return after


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
        run = await append_one(log, run, entry)

    loaded = await log.load(run.run_id)

    assert loaded == run
    assert loaded.thoughts[1].history == (first.reference(),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "Key x",
        "null",
        '"quoted" and \\ back \t slashes\r\n',
        "naïve café — Ünïcödé, 日本語, עברית, e\u0301, \u200b\ufeff",
        "👩‍👩‍👧 \U0001f9a5 \U0010ffff \u007f \x01",
        "70 KB ü " * 9000,
        "one megabyte " * 81_000,
    ],
    ids=["empty", "number", "key", "null", "escapes", "unicode", "emoji", "70KB", "1MB"],
)
async def test_a_text_comes_back_character_for_character(
    log: ThoughtStore, keep: Keep, text: str
) -> None:
    run = await keep(log, text, prompt=text)

    loaded = await log.load(run.run_id)

    assert loaded.thoughts[0].text == text
    assert loaded == run


async def test_ids_are_kept_as_given(log: ThoughtStore) -> None:
    for run_id in ("42", "Key x", "run/../x", "ünï", "'; DROP TABLE runs; --"):
        started = Started(run_id=run_id)
        run = Run.start(started)
        await log.append(run, [started], expected_version=0)
        run = await append_one(
            log, run, Drafted(thought=Thought(run_id=run_id, id="Key y", text="x"))
        )
        loaded = await log.load(run_id)
        assert loaded.run_id == run_id
        assert loaded.thoughts[0].id == "Key y"
        assert loaded == run


async def test_several_entries_are_appended_at_once(log: ThoughtStore) -> None:
    run, started = begun()
    first = drafted(run, "one")
    run = run.apply(first)
    second = drafted(run, "two")
    run = run.apply(second)

    await log.append(run, [started, first, second], expected_version=0)

    assert await log.load(run.run_id) == run


async def test_a_repeated_append_is_done_already(log: ThoughtStore) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    entry = drafted(run, "once")
    after = await append_one(log, run, entry)

    await log.append(after, [entry], expected_version=1)
    await log.append(run, [started], expected_version=0)
    await log.append(after, [started, entry], expected_version=0)

    loaded = await log.load(run.run_id)
    assert loaded == after
    assert len(loaded.thoughts) == 1
    (line,) = (await log.recent(limit=5)).runs
    assert line == after.summary()


async def test_a_repeat_that_another_append_followed_is_done_already(log: ThoughtStore) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    entry = drafted(run, "first")
    middle = await append_one(log, run, entry)
    last = await append_one(log, middle, drafted(middle, "second"))

    await log.append(middle, [entry], expected_version=1)

    assert await log.load(run.run_id) == last


async def test_another_entry_at_a_taken_place_is_a_conflict(log: ThoughtStore) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    mine = drafted(run, "mine")
    after = await append_one(log, run, mine)

    with pytest.raises(VersionConflict) as caught:
        await append_one(log, run, drafted(run, "theirs"))

    assert (caught.value.run_id, caught.value.expected, caught.value.found) == (run.run_id, 1, 2)
    assert await log.load(run.run_id) == after


async def test_an_append_that_is_half_there_is_a_conflict(log: ThoughtStore) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    first = drafted(run, "first")
    middle = await append_one(log, run, first)
    second = drafted(middle, "second")

    with pytest.raises(VersionConflict):
        await log.append(middle.apply(second), [first, second], expected_version=1)

    assert await log.load(run.run_id) == middle


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
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    await log.append(run, [], expected_version=1)
    assert await log.load(run.run_id) == run

    with pytest.raises(VersionConflict):
        await log.append(run.apply(drafted(run, "x")), [], expected_version=2)


async def test_an_append_of_nothing_is_refused_when_others_have_written(log: ThoughtStore) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    await append_one(log, run, drafted(run, "theirs"))

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


async def test_text_that_is_not_unicode_is_refused_and_nothing_is_kept(
    log: ThoughtStore,
) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)

    with pytest.raises(StorageError, match=f"entry 2 of run '{run.run_id}'"):
        await append_one(log, run, drafted(run, "half a pair: \ud83d"))

    assert await log.load(run.run_id) == run


async def test_an_unknown_run_is_not_found(log: ThoughtStore, keep: Keep) -> None:
    run = await keep(log, "x")
    for unknown in ("", "run_0", f"{run.run_id}.0", f"{run.run_id[:-1]}%", "\ud800", "a\0b"):
        with pytest.raises(ThoughtNotFound) as caught:
            await log.load(unknown)
        assert caught.value.thought_id == unknown


@pytest.mark.slow
@pytest.mark.long("cached", "hybrid")
async def test_a_run_of_1000_iterations_keeps_its_whole_descent(
    log: ThoughtStore,
) -> None:
    run, started = begun()
    await log.append(run, [started], expected_version=0)
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
    run, started = begun()
    await log.append(run, [started], expected_version=0)
    conflicts: list[VersionConflict] = []

    async def write(writer: int) -> None:
        for number in range(3):
            while True:
                known = await log.load(run.run_id)
                entry = drafted(known, f"{writer}:{number}")
                # Between reading and writing every writer gets a turn.
                await anyio.lowlevel.checkpoint()
                try:
                    await append_one(log, known, entry)
                except VersionConflict as conflict:
                    conflicts.append(conflict)
                else:
                    break

    async with anyio.create_task_group() as group:
        for writer in range(16):
            group.start_soon(write, writer)

    texts = [thought.text for thought in (await log.load(run.run_id)).thoughts]
    assert sorted(texts) == sorted(f"{w}:{n}" for w in range(16) for n in range(3))
    assert all(
        texts.index(f"{w}:{n}") < texts.index(f"{w}:{n + 1}") for w in range(16) for n in range(2)
    )
    assert conflicts, "the writers never met"
