"""Runs on texts that are longer than a section may be."""

from collections.abc import Sequence
from typing import Any

import pytest

from sifaka import Chain
from sifaka.errors import ModelProviderError
from sifaka.record.entries import Called
from sifaka.record.run import Run
from sifaka.record.usage import Budget
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from tests.sifaka.chain.dying_store import DyingStore
from tests.stubs.long_documents import (
    SECTION_CHARS,
    Answer,
    SectionProvider,
    by_sections,
    document,
    part,
    title_of,
)
from tests.stubs.provider import provider, told_of

pytestmark = pytest.mark.anyio

NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta")
TEXT = document(*NAMES)
TASK = "Say `says`, not `tells`."


def says(text: str) -> str:
    return text.replace("tells", "says")


def wants_says(text: str) -> Answer:
    """An issue at the first `tells` of a section."""
    if "tells" not in text:
        return {"verdict": "accept"}
    return {"verdict": "revise", "issues": [{"quote": "part tells", "message": "write `says`"}]}


def chain(provider: SectionProvider, store: ThoughtStore | None = None, **settings: Any) -> Chain:
    defaults: dict[str, Any] = {
        "model": provider.model,
        "critics": ["self_refine"],
        "section_chars": SECTION_CHARS,
        "max_iterations": 2,
        "look_back": 0,  # it takes texts whole
    }
    return Chain(**{**defaults, **settings}, store=store or MemoryStorage())


def statuses(run: Run, version: int = -1) -> Sequence[str]:
    told: Any = run.thoughts[version].metadata["sections"]
    return [section["status"] for section in told]


async def test_a_long_text_is_written_and_judged_section_by_section_until_it_passes() -> None:
    provider = SectionProvider(says, wants_says)
    result = await chain(provider).run(TASK, text=TEXT)
    assert (result.status, result.stop_reason) == ("done", "passed")
    assert result.text == says(TEXT)
    assert sorted(map(title_of, provider.written)) == sorted(NAMES)
    assert len(provider.judged) == 2 * len(NAMES)
    assert max(len(text) for text in (*provider.written, *provider.judged)) <= SECTION_CHARS // 2
    assert result.usage.model_calls == 3 * len(NAMES)


async def test_only_the_sections_that_critics_name_are_written_and_the_rest_stays() -> None:
    text = says(TEXT).replace(says(part("Gamma")), part("Gamma"))
    provider = SectionProvider(says, wants_says)
    result = await chain(provider).run(text=text)
    assert provider.written == [part("Gamma")]
    assert result.text == says(text)
    assert statuses(result.run) == ["untouched"] * 2 + ["improved"] + ["untouched"] * 3
    assert next(hunk.reason for hunk in result.diff if hunk.op != "equal") == "write `says`"


async def test_the_whole_is_validated_at_the_end_and_is_never_worse() -> None:
    """Each section by itself looks better, and together they break a rule of the whole."""
    provider = SectionProvider(lambda text: says(text) + " And more.", wants_says)
    words = len(says(TEXT).split())
    rules = [{"type": "length", "max_words": words + 3}]
    result = await chain(provider, validators=rules, max_iterations=1).run(TASK, text=TEXT)
    assert len(result.run.thoughts) == 2
    assert not result.run.thoughts[1].passed
    assert result.text == TEXT


async def test_a_section_that_fails_is_told_and_when_all_do_so_does_the_run() -> None:
    def writes(text: str) -> str | Exception:
        down = ModelProviderError("the provider is down", error_code="rejected")
        return down if title_of(text) == "Beta" else says(text)

    result = await chain(SectionProvider(writes, wants_says), max_iterations=1).run(TASK, text=TEXT)
    assert result.text == says(TEXT).replace(says(part("Beta")), part("Beta"))
    assert "[section 2: Beta] was not written: the provider is down" in result.degraded
    assert statuses(result.run)[1] == "failed"

    down = ModelProviderError("the provider is down", error_code="rejected")
    result = await chain(SectionProvider(lambda _: down, wants_says)).run(TASK, text=TEXT)
    assert (result.status, result.text) == ("failed", TEXT)
    assert result.error is not None
    assert "the provider is down" in result.error


@pytest.mark.parametrize(("room", "written"), [(0, 0), (1, 1), (4, 4), (6, 6)])
async def test_one_budget_bounds_all_sections_and_leaves_room_to_judge_them(
    room: int, written: int
) -> None:
    sections = len(NAMES)
    budget = Budget(max_calls=2 * sections + room)
    provider = SectionProvider(says, wants_says)
    result = await chain(provider, budget=budget, max_iterations=1).run(TASK, text=TEXT)
    assert len(provider.written) == written
    assert len(provider.judged) == (2 if written else 1) * sections
    assert result.usage.model_calls <= 2 * sections + room
    assert result.text.count(" part says") == written * 9
    told = [line for line in result.degraded if "sections were not written" in line]
    assert len(told) == (0 < written < sections)


@pytest.mark.parametrize("number", [1, 2, 6, 7, 12, 13, 18])
async def test_a_run_killed_between_two_sections_asks_for_none_twice(number: int) -> None:
    memory = MemoryStorage()
    before = SectionProvider(says, wants_says, turns=30)
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - looked at below
        await chain(before, DyingStore(memory, number, at=Called)).run(TASK, text=TEXT)
    assert "Killed" in repr(raised.value)
    (summary,) = (await memory.recent(limit=1)).runs
    kept = await memory.load(summary.run_id)
    after = SectionProvider(says, wants_says)
    result = await chain(after, memory).resume(summary.run_id)
    assert result.text == says(TEXT)
    assert result.stop_reason == "passed"
    assert len(kept.calls) == number - 1
    assert len(after.written) + len(after.judged) == 3 * len(NAMES) - len(kept.calls)
    keys = [call.key for call in result.run.calls]
    assert len(keys) == len(set(keys)) == 3 * len(NAMES)


async def test_the_place_of_a_section_in_the_journal_has_its_number_and_its_text() -> None:
    provider = SectionProvider(says, wants_says)
    result = await chain(provider).run(TASK, text=TEXT)
    written = sorted(call.key for call in result.run.calls if "/write/" in call.key)
    assert [key.split("/")[2][:10] for key in written] == [
        f"section {n} " for n in range(1, len(NAMES) + 1)
    ]
    assert len({key.split("/")[2].split()[2] for key in written}) == len(NAMES)


async def test_a_run_by_sections_of_a_provider_is_replayed_from_its_journal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []
    with provider(by_sections(says, wants_says, written)) as served:
        told_of(served, monkeypatch)
        done = chain(SectionProvider(), model="openai-chat:stub")
        result = await done.run(TASK, text=TEXT)
    assert result.text == says(TEXT)
    assert len(written) == len(NAMES)
    replay = await done.replay(result.run_id)
    assert replay.differences == ()


async def test_several_versions_are_written_at_once_section_by_section() -> None:
    provider = SectionProvider(says, wants_says)
    settings: dict[str, Any] = {"policy": "best_of_n", "width": 2, "max_iterations": 1}
    result = await chain(provider, **settings).run(TASK, text=TEXT)
    assert len(provider.written) == 2 * len(NAMES)
    assert result.text == says(TEXT)
    short = SectionProvider(says, wants_says)
    budget = Budget(max_calls=4 * len(NAMES))
    result = await chain(short, **settings, budget=budget).run(TASK, text=TEXT)
    assert len(short.written) == len(NAMES), "there is no room for two versions in full"
    assert result.text == says(TEXT)


async def test_the_editor_and_a_chain_without_a_limit_take_a_long_text_as_a_whole() -> None:
    provider = SectionProvider(says, wants_says)
    result = await chain(provider, section_chars=None).run(TASK, text=TEXT)
    assert (provider.written, result.text) == ([TEXT], says(TEXT))
    text = TEXT.replace("leaves the rest", "leaves the the rest")
    result = await Chain(model="editor", section_chars=SECTION_CHARS).run(text=text)
    assert result.text == TEXT
    assert "sections" not in result.thought.metadata
