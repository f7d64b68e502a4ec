"""Drafts: what is not of the text goes or is refused, and a text stays as it is."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.models.draft_extraction import ExtractedDraft, Source, Unfit, draft_of, mended
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


def test_the_collection_is_large_and_most_of_it_is_told_at_once() -> None:
    assert len(REAL) >= 120
    assert len(REAL) + len(WRAPPINGS) + len(NONE) >= 250
    assert len(GOOD) + len(HONEST) + len(FIRST) >= 90
    alone = [made for made in MENDED if outcome(made.draft, source(made)) is not None]
    assert len(alone) >= 40
    taken = [
        made for made in HONEST if outcome(made.draft, source(made)) == ExtractedDraft(made.draft)
    ]
    assert len(taken) >= 0.8 * len(HONEST)
    kinds = Counter(row["must"] for row in REAL)
    assert kinds["refused"] + kinds["mended"] >= 80


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


def test_no_mark_of_a_prompt_is_left_in_what_is_taken_from_a_real_answer() -> None:
    for row in REAL:
        given = Source(text=row["input"], task=row["task"], prompt=row["prompt"])
        draft = outcome(row["draft"], given)
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
