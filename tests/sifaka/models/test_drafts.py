"""Drafts: what is not of the text goes, or is turned down with the reason; a text stays."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import FinishReason

from sifaka import Chain, RunResult
from sifaka.models.draft_extraction import ExtractedDraft, Source, Unfit, draft_of, mended
from sifaka.record.usage import Budget
from tests.sifaka.models.drafts.made import (
    FIRST,
    GOOD,
    INSTRUCTIONS,
    MEANT,
    MENDED,
    PROMPT,
    REFUSED,
    RIGHT,
    Made,
)
from tests.sifaka.models.drafts.wrapped import FIRST_WRAPPED, HONEST, NO_TEXT, WRAPPED
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

WRAPPINGS = (*MENDED, *WRAPPED, *FIRST_WRAPPED)
NONE = (*REFUSED, *NO_TEXT)

REAL: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "drafts" / "real.jsonl").read_text("utf-8").splitlines()
]
"""Answers of SmolLM2-135M-Instruct (Apache-2.0) to prompts of this project."""


def source(made: Made) -> Source:
    prompt = PROMPT.format(text=made.input) if made.input else f"Task: {made.task}"
    return Source(text=made.input, task=made.task, prompt=prompt, instructions=INSTRUCTIONS)


def outcome(answer: str, given: Source) -> ExtractedDraft | None:
    try:
        return draft_of(answer, given)
    except Unfit:
        return None


def test_most_of_the_collection_is_told_at_once() -> None:
    alone = [made for made in MENDED if outcome(made.draft, source(made)) is not None]
    assert len(alone) >= 0.4 * len(MENDED)
    taken = [
        made for made in HONEST if outcome(made.draft, source(made)) == ExtractedDraft(made.draft)
    ]
    assert len(taken) >= 0.8 * len(HONEST)


JSON = '```json\n{"name": "Anna Berg", "city": "Uppsala", "age": "34"}\n```'
AS_JSON = Source(
    text="Anna Berg lives in Uppsala. She is 34 years old.", task="Write this as a JSON object."
)


def test_words_beside_the_fence_that_holds_the_text_are_asked_about_once() -> None:
    answer = f"{JSON}\n\nThe task is to write JSON."
    for beside in (answer, f"{answer}\n{JSON[:-4]}"):
        with pytest.raises(Unfit, match="beside the fence"):
            draft_of(beside, AS_JSON)
    assert draft_of(JSON, AS_JSON).text == JSON
    assert draft_of(answer, replace(AS_JSON, shown=answer)).text == answer


@pytest.mark.parametrize("made", WRAPPINGS, ids=lambda made: made.draft[:30])
def test_a_wrapped_text_comes_back_alone_or_is_asked_for_again(made: Made) -> None:
    draft = outcome(made.draft, source(made))
    assert draft is None or (draft.text, bool(draft.mended)) == (made.text, True)


@pytest.mark.parametrize("made", NONE, ids=lambda made: made.draft[:30])
def test_an_answer_without_one_text_is_refused_with_a_reason(made: Made) -> None:
    with pytest.raises(Unfit, match=r"^it \w+"):
        draft_of(made.draft, source(made))


@pytest.mark.parametrize("made", NO_TEXT, ids=lambda made: made.draft[:30])
def test_an_answer_with_no_text_is_refused_although_it_comes_again(made: Made) -> None:
    asked = "?" in made.draft  # a text may be a question
    again = replace(source(made), shown=made.draft)
    assert (outcome(made.draft, again) is None) or asked


@pytest.mark.parametrize("made", [*GOOD, *FIRST], ids=lambda made: made.draft[:30])
def test_a_text_stays_as_it_is_to_the_last_byte(made: Made) -> None:
    assert draft_of(made.draft, source(made)) == ExtractedDraft(made.draft)


@pytest.mark.parametrize("made", [*HONEST, *MEANT], ids=lambda made: made.draft[:30])
def test_no_honest_text_is_refused_twice(made: Made) -> None:
    again = replace(source(made), shown=made.draft)
    assert draft_of(made.draft, again) == ExtractedDraft(made.draft)


def test_another_answer_than_the_one_that_was_shown_is_not_meant_by_it() -> None:
    made = Made(f"{RIGHT}\n\nLet me know if you want more changes!", None)
    with pytest.raises(Unfit, match="none of the text"):
        draft_of(made.draft, replace(source(made), shown=f"{RIGHT} Let me know!"))


@pytest.mark.parametrize("made", WRAPPINGS, ids=lambda made: made.draft[:30])
def test_a_text_that_was_mended_once_stays(made: Made) -> None:
    if made.text is not None and (draft := outcome(made.draft, source(made))) is not None:
        assert draft_of(draft.text, source(made)) == ExtractedDraft(draft.text)


@pytest.mark.parametrize("row", REAL, ids=lambda row: f"{row['number']}")
def test_answers_of_a_real_small_model_become_what_they_must(row: dict[str, Any]) -> None:
    given = Source(
        text=row["input"], task=row["task"], prompt=row["prompt"], instructions=INSTRUCTIONS
    )
    draft = outcome(row["draft"], given)
    match row["must"]:
        case "refused":
            assert draft is None
        case "mended":
            assert draft is None or (draft.text, bool(draft.mended)) == (row["text"], True)
        case _:  # only who understands it can tell that it is no text
            assert draft is None or " id=" not in draft.text or " id=" in row["input"]


@pytest.mark.parametrize("made", NONE, ids=lambda made: made.draft[:30])
def test_a_submission_is_never_refused_for_it(made: Made) -> None:
    assert mended(made.draft, Source(text=made.input, task=made.task)).text.strip()


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_answer_is_read(answer: str, text: str) -> None:
    outcome(answer, Source(text=text))


@given(st.text(alphabet="ab \n`<>\"'-.:", max_size=200))
def test_an_answer_that_is_the_text_itself_stays(text: str) -> None:
    assert draft_of(text, Source(text=text)) == ExtractedDraft(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "long",
    ["word " * 200_000, "<" * 1_000_000, "<think>" * 140_000,
     *(pytest.param(each, marks=pytest.mark.hostile) for each in (
         "(" * 1_000_000, "a\n" * 80_000, "a\n" * 400_000, "`" * 1_000_000, "Sure, " * 150_000,
         "<text id=0123456789>" * 50_000, "\n" * 1_000_000))],
    ids=lambda long: f"{long[:8]} {len(long)}",
)  # fmt: skip
@pytest.mark.timeout(60)
def test_an_answer_of_a_million_characters_is_read_in_time(long: str) -> None:
    outcome(long, Source(text="A text.", task="Improve it.", prompt=PROMPT.format(text="A text.")))


TEXT = "It basically are a text of too many words, is it?"
BETTER = "It is a text of few words."
Policy = Literal["best", "last"]


SETTINGS: dict[str, Any] = {
    "critics": [],
    "fixes": "none",
    "facts": "off",
    "validators": [{"type": "length", "max_words": 8}],
}


async def run(writer: Writer, task: str = "", **options: Any) -> RunResult:
    return await Chain(model=writer.model, **(SETTINGS | options)).run(task, text=TEXT)


def echo(prompt: str) -> str:
    return f"{prompt}\n\nAnd now something.\n\n{prompt}\n\nAnd now something else."


async def test_a_draft_that_can_be_mended_is_a_version_and_says_so() -> None:
    result = await run(Writer(f"Sure, here is the revised text:\n\n{BETTER}"))
    assert (result.text, result.stop_reason) == (BETTER, "rules_met")
    assert result.thought.metadata["mended"] == ("a chat preface",)


@pytest.mark.parametrize("policy", ["best", "last"])
async def test_a_draft_that_cannot_is_turned_down_with_the_reason(policy: Policy) -> None:
    result = await run(Writer(echo), policy=policy)
    assert (result.text, result.status, result.passed) == (TEXT, "done", False)
    assert result.stop_reason == "max_iterations"
    assert result.turned_down
    for thought in result.turned_down:
        assert result.run.decisions[thought.id].reason.startswith("refused: it ")
        assert thought.validation_results == {}, "nobody is paid to look at it"


async def test_a_refused_answer_is_shown_to_its_writer_who_is_asked_once_more() -> None:
    refused = f"{BETTER}\n\nLet me know what else I should change!"
    writer = Writer(refused, BETTER)
    result = await run(writer)
    prompts = writer.of("write")
    assert (result.text, result.stop_reason) == (BETTER, "rules_met")
    assert [result.run.decisions[t.id].accepted for t in result.run.thoughts] == [True, True]
    assert prompts[1].startswith(prompts[0])
    shown = prompts[1].removeprefix(prompts[0])
    assert refused in shown
    (told,) = (line for line in shown.splitlines() if "was refused" in line)
    assert "refused: it has what may be none of the text: 'Let me know what else" in told
    assert (result.thought.usage.model_calls, result.usage.model_calls) == (2, 2)


async def test_the_next_version_is_told_of_a_second_refusal() -> None:
    writer = Writer(echo, echo, BETTER)
    result = await run(writer)
    assert (result.text, result.stop_reason) == (BETTER, "rules_met")
    assert "An answer was refused: it " in writer.of("write")[2]
    assert [result.run.decisions[t.id].accepted for t in result.run.thoughts] == [True, False, True]


async def test_an_answer_that_is_given_again_or_needs_no_changes_is_meant() -> None:
    told = f"{BETTER}\n\nSee you on Sunday!"
    writer = Writer(told)
    result = await run(writer, "Invite them.", validators=[], max_iterations=1)
    assert result.text == told
    assert sum("was refused" in prompt for prompt in writer.of("write")) == 1
    writer = Writer("No changes are needed.", TEXT)
    result = await run(writer, "Correct it.", validators=[], facts=None)
    assert (result.text, len(writer.asked)) == (TEXT, 2)
    assert "if nothing is to be changed, with the text as it is" in writer.of("write")[1]


async def test_without_room_for_a_second_answer_the_first_stays_refused() -> None:
    writer = Writer(echo)
    result = await run(writer, "Correct it.", budget=Budget(max_calls=1))
    assert (result.text, len(writer.asked)) == (TEXT, 1)
    (refused,) = result.turned_down
    assert result.run.decisions[refused.id].reason.startswith("refused: it ")


async def test_of_several_versions_the_others_go_on() -> None:
    result = await run(Writer(echo, BETTER), policy="best_of_n", width=2)
    assert result.text == BETTER
    assert len(result.run.thoughts) == 3
    assert result.run.iterations == 1


@pytest.mark.parametrize("answer", ["<think>for ever", "Write a text.", "la la " * 50])
async def test_a_first_version_that_is_refused_fails_the_run(answer: str) -> None:
    result = await Chain(model=Writer(answer).model, critics=[]).run("Write a text.")
    assert (result.status, result.text, result.passed) == ("failed", "", False)
    assert result.run.error_code == "unfit"
    assert "the answer was refused: it" in (result.error or "")


async def test_runs_are_replayed_with_refused_drafts_and_from_before_them() -> None:
    writer = Writer(echo, f"```\n{BETTER}\n```")
    chain = Chain(model=writer.model, critics=[], max_iterations=2, patience=None)
    result = await chain.run("Shorten it.", text=TEXT)
    assert result.run.mends
    assert (await chain.replay(result.run_id)).differences == ()

    said = f"```\n{BETTER}\n```"
    chain = Chain(model=Writer(said).model, **SETTINGS)
    handle = await chain.start("Shorten it.", text=TEXT)
    handle.taken = handle.taken.model_copy(update={"mends": False})
    result = await handle.work()
    assert said in [thought.text for thought in result.run.thoughts]


@pytest.mark.parametrize(
    ("reason", "details", "code"),
    [
        ("content_filter", None, "content_filter"),
        ("length", None, "output_limit"),
        ("error", None, "unfinished"),
        ("tool_call", None, "unfinished"),
        (None, {"finish_reason": "abort"}, "unfinished"),
        (None, {"finish_reason": "SAFETY"}, "unfinished"),
        (None, {"finish_reason": "pause_turn"}, "unfinished"),
        ("stop", None, None),
        (None, None, None),
        (None, {"finish_reason": "end_turn"}, None),
    ],
)
async def test_half_an_answer_is_no_version(
    reason: FinishReason | None, details: dict[str, Any] | None, code: str | None
) -> None:
    result = await run(Writer(BETTER, finish_reason=reason, provider_details=details))
    assert result.run.error_code == code
    met = code is None
    assert (result.text, result.rules_met) == ((BETTER, True) if met else (TEXT, False))


async def test_what_the_caller_submits_is_mended_where_that_is_certain() -> None:
    chain = Chain(model="caller", validators=SETTINGS["validators"], fixes="none")
    waiting = await chain.run(text=TEXT)
    revision = f"<think>shorter</think>\nHere is the revised text:\n\n{BETTER}"
    result = await chain.submit(waiting.run_id, waiting.thought.id, revision)
    assert (result.text, result.accepted) == (BETTER, True)
    assert result.thought.metadata["mended"] == ("reasoning", "a chat preface")
    again = await chain.submit(waiting.run_id, waiting.thought.id, revision)
    assert again.run.version == result.run.version
