"""Drafts: what is not of the text goes or is refused, and a text stays as it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.models.draft import Draft, Unfit, draft_of, mended
from sifaka.models.draft_lines import Source
from tests.sifaka.models.drafts.made import FIRST, GOOD, INSTRUCTIONS, MENDED, PROMPT, REFUSED, Made

REAL: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "drafts" / "real.jsonl").read_text("utf-8").splitlines()
]
"""Answers of SmolLM2-135M-Instruct (Apache-2.0) to prompts of this project."""


def source(made: Made) -> Source:
    prompt = PROMPT.format(text=made.input) if made.input else f"Task: {made.task}"
    return Source(text=made.input, task=made.task, prompt=prompt, instructions=INSTRUCTIONS)


def outcome(answer: str, given: Source) -> Draft | None:
    try:
        return draft_of(answer, given)
    except Unfit:
        return None


def test_the_collection_is_large() -> None:
    assert len(REAL) >= 120
    assert len(REAL) + len(MENDED) + len(REFUSED) >= 200
    assert len(GOOD) + len(FIRST) >= 60


@pytest.mark.parametrize("made", MENDED, ids=lambda made: made.draft[:30])
def test_what_is_not_of_the_text_is_taken_off_and_told(made: Made) -> None:
    draft = draft_of(made.draft, source(made))
    assert draft.text == made.text
    assert draft.mended


@pytest.mark.parametrize("made", REFUSED, ids=lambda made: made.draft[:30])
def test_an_answer_without_a_certain_text_is_refused_with_a_reason(made: Made) -> None:
    with pytest.raises(Unfit, match=r"\w+ \w+"):
        draft_of(made.draft, source(made))


@pytest.mark.parametrize("made", [*GOOD, *FIRST], ids=lambda made: made.draft[:30])
def test_a_text_stays_as_it_is_to_the_last_byte(made: Made) -> None:
    assert draft_of(made.draft, source(made)) == Draft(made.draft)


@pytest.mark.parametrize("made", MENDED, ids=lambda made: made.draft[:30])
def test_a_text_that_was_mended_once_stays(made: Made) -> None:
    assert made.text is not None
    assert draft_of(made.text, source(made)) == Draft(made.text)


@pytest.mark.parametrize("row", REAL, ids=lambda row: f"{row['number']}")
def test_answers_of_a_real_small_model_become_what_they_must(row: dict[str, Any]) -> None:
    given = Source(
        text=row["input"], task=row["task"], prompt=row["prompt"], instructions=INSTRUCTIONS
    )
    draft = outcome(row["draft"], given)
    match row["must"]:
        case "refused":
            assert draft is None
        case "untouched":
            assert draft == Draft(row["draft"])
        case _:
            assert draft is not None
            assert (draft.text, bool(draft.mended)) == (row["text"], True)


def test_no_mark_of_a_prompt_is_left_in_what_is_taken_from_a_real_answer() -> None:
    for row in REAL:
        given = Source(text=row["input"], task=row["task"], prompt=row["prompt"])
        draft = outcome(row["draft"], given)
        assert draft is None or " id=" not in draft.text or " id=" in row["input"]


@pytest.mark.parametrize("made", REFUSED, ids=lambda made: made.draft[:30])
def test_a_submission_is_never_refused_for_it(made: Made) -> None:
    assert mended(made.draft, Source(text=made.input, task=made.task)).text.strip()


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_answer_is_read(answer: str, text: str) -> None:
    outcome(answer, Source(text=text))


@given(st.text(alphabet="ab \n`<>\"'-.:", max_size=200))
def test_an_answer_that_is_the_text_itself_stays(text: str) -> None:
    assert draft_of(text, Source(text=text)) == Draft(text)


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
