"""A person's choice of a version, which stands whatever it breaks."""

import pytest

from sifaka import Chain, max_words
from sifaka.chain import choose_version
from sifaka.errors import ConfigurationError, StaleRevision, ThoughtNotFound
from sifaka.storage import MemoryStorage

pytestmark = pytest.mark.anyio
TEXT = "This is the the first version, by 40 teams."


def chain(store: MemoryStorage, **settings: object) -> Chain:
    return Chain(store=store, validators=[max_words(9)], **settings)  # type: ignore[arg-type]


async def test_other_words_become_a_version_of_a_person_that_stands() -> None:
    store = MemoryStorage()
    done = await chain(store, model="editor").run("", text=TEXT)
    text = "This is the first version, by 400 teams and by more than these."
    chosen = await choose_version(chain(store, model="editor"), done.run_id, done.thought.id, text)
    assert (chosen.text, chosen.thought.author, chosen.status) == (text, "person", "done")
    assert chosen.thought.parent_id == done.thought.id
    decision = chosen.run.decisions[chosen.thought.id]
    assert decision.accepted
    assert "a person said so, although it breaks" in decision.reason
    assert "length: 13 words" in decision.reason
    changed = [d for d in chosen.thought.findings.differences if d.status == "accepted"]
    assert {each.by for each in changed} == {"person"}, "who said so has answered what differs"
    assert not chosen.passed
    assert chosen.run.usage.model_calls == 0
    assert (await store.load(done.run_id)) == chosen.run


async def test_an_earlier_version_is_used_again_and_what_is_left_is_declined() -> None:
    store = MemoryStorage()
    done = await chain(store, model="editor").run("", text=TEXT)
    first = done.run.thoughts[0]
    chosen = await choose_version(
        chain(store, model="editor"), done.run_id, first.id, reason="It is a quotation."
    )
    assert chosen.thought.id == first.id
    assert chosen.run.declined[first.id] == "It is a quotation."
    assert len(chosen.run.thoughts) == len(done.run.thoughts)


async def test_the_same_choice_made_twice_is_stored_once() -> None:
    store = MemoryStorage()
    mine = chain(store, model="editor")
    done = await mine.run("", text=TEXT)
    once = await choose_version(mine, done.run_id, done.thought.id, "Other words.")
    twice = await choose_version(mine, done.run_id, done.thought.id, "Other words.")
    same = await choose_version(mine, done.run_id, once.thought.id)
    assert once.run == twice.run == same.run


async def test_a_run_that_waits_ends_with_the_choice() -> None:
    store = MemoryStorage()
    mine = chain(store, model="caller")
    waiting = await mine.run("", text=f"{TEXT} It has far too many words for that.")
    assert waiting.status == "needs_revision"
    chosen = await choose_version(mine, waiting.run_id, waiting.thought.id)
    assert (chosen.status, chosen.stop_reason) == ("done", "accepted")
    with pytest.raises((ConfigurationError, StaleRevision)):
        await mine.submit(waiting.run_id, waiting.thought.id, "A short text.")


async def test_a_replay_repeats_what_came_before_a_person() -> None:
    store = MemoryStorage()
    mine = chain(store, model="editor")
    for text, reason in (("Other words.", ""), ("", "It is a quotation."), ("Others.", "Why not?")):
        done = await mine.run("", text=TEXT)
        assert (await choose_version(mine, done.run_id, done.thought.id, text, reason=reason)).run
        assert (await mine.replay(done.run_id)).differences == ()


async def test_what_cannot_be_chosen_is_refused() -> None:
    store = MemoryStorage()
    mine = chain(store, model="editor")
    done = await mine.run("", text=TEXT)
    with pytest.raises(ThoughtNotFound):
        await choose_version(mine, done.run_id, f"{done.run_id}.9")
    handle = await mine.start("", text=TEXT)
    with pytest.raises(ConfigurationError, match="goes on"):
        await choose_version(mine, handle.run.run_id, handle.run.thoughts[0].id)
