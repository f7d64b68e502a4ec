"""The benchmark of prompts: its checks see damage, and its answers are kept."""

from pathlib import Path

import httpx2
import pytest

from benchmarks.prompts.__main__ import measure
from benchmarks.prompts.answers import Answers
from benchmarks.prompts.cases import KINDS, Case, load
from benchmarks.prompts.contenders import best_of_n, naive_loop, one_shot, ours
from benchmarks.prompts.outcomes import table_of
from tests.stubs.provider import provider, says

pytestmark = pytest.mark.anyio


def case(name: str) -> Case:
    return next(each for each in load() if each.id == name)


def test_there_are_sixty_texts_in_turns_of_the_kinds() -> None:
    cases = load()
    assert len({each.text for each in cases}) == 60
    assert tuple(each.kind for each in cases[:5]) == KINDS


async def test_no_input_is_damaged_or_does_its_task_already() -> None:
    for each in load():
        score = await each.score(each.text)
        assert (score.met, score.lost, score.marks, score.sized) == (False, 0, False, True), each.id


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("grammar-04", "She received 14 letters on Monday. A lot of them were from Canada. She "
         "wants to answer each of them by 20 June."),
        ("format-06", '{"name": "Anna Berg", "city": "Uppsala", "age": 34}'),
        ("facts-08", "A blue whale weighs up to 150 tons. It eats 4 tons of krill a day because it "
         "is so big. It was hunted until 1966. About 15,000 live today."),
    ],
)  # fmt: skip
async def test_a_task_well_done_is_good(name: str, text: str) -> None:
    score = await case(name).score(text)
    assert score.good
    assert not score.worse_than(await case(name).score(case(name).text))


@pytest.mark.parametrize(
    "text",
    [
        "Our customers can borrow up to 9 tools at a time.",
        "<text id=85aee982ef5ab4c7>\nOur members can borrow 5 tools. 2 euros. 10:00\n</text>",
        "Sure, here is the text: members borrow 5 tools for 2 euros at 10:00, and they like it.",
        "Feedback: members borrow 5 tools for 2 euros at 10:00, and they like that a lot.",
        "5 2 10:00",
        "5 tools, 2 euros, 10:00. " * 20,
    ],
)
async def test_damage_is_seen(text: str) -> None:
    one = case("terms-01")
    assert (await one.score(text)).worse_than(await one.score(one.text))


async def test_answers_are_kept_by_their_questions_without_their_marks(tmp_path: Path) -> None:
    def body(mark: str) -> dict[str, object]:
        return {"messages": [{"role": "user", "content": f"<text id={mark}>"}]}

    first, second = "85aee982ef5ab4c7", "0123456789abcdef"
    with provider([says(f"It says {first}."), says("Another one.")]) as served:
        for mark in (first, second):
            answers = Answers(served.url, "stub", tmp_path / "kept.jsonl", longest=50)
            said = [await answers.answer("a/b", body(mark)) for _ in range(2)]
            texts = [answer["choices"][0]["message"]["content"] for _, answer in said]
            assert texts == [f"It says {mark}.", "Another one."], "asked again, another answer"
        assert answers.asked_anew == 0
        assert answers.calls["a/b"] == 2
    assert len(served.requests) == 2
    assert served.requests[0]["seed"] != served.requests[1]["seed"]


async def test_a_failure_is_passed_on_and_not_kept(tmp_path: Path) -> None:
    with provider([]) as served:
        answers = Answers(served.url, "stub", tmp_path / "kept.jsonl", longest=50)
        with answers.served({}) as url:
            async with httpx2.AsyncClient() as client:
                response = await client.post(f"{url}/a/b/v1/chat/completions", json={})
    assert response.status_code == 500
    assert not (tmp_path / "kept.jsonl").exists()


@pytest.mark.slow
async def test_each_contender_keeps_to_its_calls(tmp_path: Path) -> None:
    contenders = {"one": one_shot, "n": best_of_n, "loop": naive_loop, "ours": ours()}
    with provider(lambda request: says("A short text.")) as served:
        answers = Answers(served.url, "stub", tmp_path / "kept.jsonl", longest=50)
        found = await measure(contenders, load()[:3], answers, calls=3)
    assert [each.calls for name in ("one", "n", "loop") for each in found[name]] == [1] * 3 + [
        3
    ] * 6
    assert all(each.calls <= 3 for each in found["ours"])
    assert not any(each.worse for each in found["ours"]), "every fact is lost in that answer"
    assert all(each.worse for each in found["one"])
    rows = table_of("prompts", "A title", found).rows
    assert rows[0][:3] == ("one", "3", "1.0")
