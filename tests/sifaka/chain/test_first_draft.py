"""What a writer and its reviewers are shown, from the first draft on."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from sifaka import Chain, Document, RunResult
from sifaka.critics import SectionedCritic, SelfRefineCritic
from sifaka.models.prompt import contents, with_original
from sifaka.record.thought import Thought
from sifaka.retrievers.mock import MockRetriever
from sifaka.storage import MemoryStorage
from tests.sifaka.critics.scripted_judge import ScriptedJudge
from tests.stubs.writer import ACCEPT, REVISE, Kind, Writer

pytestmark = pytest.mark.anyio

TASK = "Bring it to the moon."
TEXT = "The bag costs 6 dollars."
CHANGED = "The bag costs 9 dollars on the moon."
KEPT = "The bag costs 6 dollars on the moon."


def covering(quote: str, id_: str = "d1") -> Mapping[str, Any]:
    return {**ACCEPT, "covered": [{"id": id_, "quote": quote}]}


def shown(writing: Writer, kind: Kind, number: int = 0) -> Mapping[str, list[str]]:
    """What the frames of a prompt of this kind hold."""
    return contents(writing.of(kind)[number])[0]


async def ran(writing: Writer, task: str = TASK, text: str = TEXT, **options: Any) -> RunResult:
    given: dict[str, Any] = {"critics": ["self_refine"], "fixes": "none", "look_back": 0}
    given |= {"max_iterations": 1, **options}
    return await Chain(model=writing.model, **given).run(task, text=text)


async def test_with_a_task_the_first_call_is_the_writers() -> None:
    writing = Writer(KEPT, form=ACCEPT)
    result = await ran(writing)
    assert writing.kinds == ["write", "review"]
    assert (result.text, result.passed, result.stop_reason) == (KEPT, True, "passed")
    assert result.run.thoughts[0].critic_feedback == ()
    assert shown(writing, "review")["original"] == [TEXT]


@pytest.mark.parametrize(
    ("task", "text", "options"),
    [
        ("", TEXT, {}),
        (TASK, TEXT, {"max_iterations": 0}),
        (TASK, TEXT + " Many shops have it." * 100, {"section_chars": 2_000}),
    ],
    ids=["no task", "nothing may be written", "longer than a section"],
)
async def test_what_is_not_written_anew_is_reviewed_first(
    task: str, text: str, options: Mapping[str, Any]
) -> None:
    writing = Writer(KEPT, form=ACCEPT)
    result = await ran(writing, task, text, **options)
    assert writing.kinds[0] == "review"
    assert result.run.thoughts[0].critic_feedback


async def test_a_difference_that_the_task_is_quoted_for_is_covered_and_the_version_taken() -> None:
    writing, store = Writer(CHANGED, form=covering("it to the moon")), MemoryStorage()
    result = await ran(writing, store=store)
    assert (result.text, result.passed) == (CHANGED, True)
    assert shown(writing, "review")["differences"] == ["d1 (money): '6 dollars' became '9 dollars'"]
    recorded = (await store.load(result.run_id)).thoughts[1].findings
    assert recorded == result.findings
    (covered,) = [each for each in recorded.differences if each.status == "covered"]
    assert (covered.by, covered.reason) == (result.run.config.model, "it to the moon")


async def test_documents_and_evaluations_cover_differences_but_no_required_facts() -> None:
    found = Document(title="Freight", text="Everything that is sent there costs half as much more.")
    writing = Writer(CHANGED, form=covering("costs half as much more"))
    result = await ran(writing, retrievers=[MockRetriever(documents=(found,))])
    assert (result.text, result.passed) == (CHANGED, True)
    result = await ran(Writer(CHANGED, form=covering("to the moon")), critics=["reflexion"])
    assert (result.text, result.passed) == (CHANGED, True)
    result = await ran(Writer(CHANGED, form=covering("it to the moon")), facts="require")
    assert (result.text, result.passed) == (TEXT, False)
    assert [each.status for each in result.turned_down[0].findings.differences] == ["open"]


@pytest.mark.parametrize(
    "review",
    [
        covering("costs 9 dollars"),
        covering("costs 6 dollars"),
        covering("the task asks for it"),
        covering(""),
        covering(" \n"),
        covering("e"),
        covering("the"),
        covering("to the mood"),
        covering("it to the moon", "d2"),
        ACCEPT,
    ],
    ids=[
        *("the text", "the original", "invented", "empty", "blank", "a letter", "a word", "near"),
        *("another", "none"),
    ],
)
async def test_a_quote_that_stands_in_no_task_and_no_document_covers_nothing(
    review: Mapping[str, Any],
) -> None:
    result = await ran(Writer(CHANGED, form=review))
    assert (result.text, result.passed) == (TEXT, False)
    (refused,) = result.turned_down
    assert [each.status for each in refused.findings.differences] == ["open"]
    assert result.run.decisions[refused.id].by == "differences"


async def test_a_limit_of_the_task_is_not_covered_by_its_own_words() -> None:
    writing = Writer(KEPT, form=covering("in at most 5 words"))
    result = await ran(writing, "Say it for the moon in at most 5 words.")
    assert "differences" not in shown(writing, "review")
    assert "not met: 8" in shown(writing, "review")["rules"][0]
    assert (result.text, result.passed) == (TEXT, False)
    assert [each.kind for each in result.turned_down[0].findings.open] == ["length"]


async def test_a_writer_is_shown_the_version_that_was_turned_down_and_why() -> None:
    writing = Writer(CHANGED, KEPT, form=ACCEPT)
    result = await ran(writing, max_iterations=2)
    assert result.text == KEPT
    assert writing.kinds == ["write", "review"] * 2
    first, second = shown(writing, "write"), shown(writing, "write", 1)
    assert "turned down" not in first
    assert (second["text"], second["turned down"]) == ([TEXT], [CHANGED])
    assert "'6 dollars' became '9 dollars': nothing asks for it" in second["reasons"][0]
    assert "change only this" in writing.of("write")[1]


async def test_a_first_draft_of_a_task_alone_is_written_with_the_rules() -> None:
    writing = Writer("A bag for the moon.", form=ACCEPT)
    rules = [{"type": "length", "max_words": 7}, {"type": "content", "required": ["bag"]}]
    result = await ran(writing, text="", validators=rules)
    assert writing.kinds == ["write", "review"]
    (told,) = shown(writing, "write")["rules"]
    assert '"max_words": 7' in told
    assert '"required": ["bag"]' in told
    assert result.rules_met


async def test_writer_and_reviewer_see_each_rule_with_what_was_measured() -> None:
    writing = Writer(KEPT, form=ACCEPT)
    rules = [
        {"type": "length", "max_words": 7},
        {"type": "content", "required": ["moon"], "name": "place"},
    ]
    await ran(writing, "Say it for the moon in at most 9 words.", validators=rules)
    (told,) = shown(writing, "write")["rules"]
    assert told.startswith("- length: met: ")
    assert "place" not in told, "the feedback tells what fails"
    assert "place" in shown(writing, "write")["feedback"][0]
    (told,) = shown(writing, "review")["rules"]
    length, place, task = told.splitlines()
    assert length.startswith("- length: not met: 8 words")
    assert place.startswith("- place: met: ")
    assert task == "- the task: at most 9 words: met: 8"


INPUT = "It costs 6 dollars at https://example.org/shop."


async def recorded(
    *versions: str, text: str = INPUT, task: str = "Shorten it.", **options: Any
) -> tuple[Writer, RunResult]:
    writer = Writer(*versions, form={**REVISE, "better": "neither"})
    given: dict[str, Any] = {"critics": ["self_refine"], "fixes": "none", "patience": None}
    given |= {"facts": "off", "max_iterations": len(versions), **options}
    return writer, await Chain(model=writer.model, **given).run(task, text=text)


async def test_critics_see_the_original_beside_each_version_but_not_twice() -> None:
    recorder, result = await recorded("It costs 6 dollars.", "6 dollars.", task="", policy="last")
    first, *later = recorder.of("review")
    assert first.count(INPUT) == 1
    assert "<original" not in first
    for question in later:
        assert question.count(INPUT) == 1
        assert question.index("<original") < question.index(INPUT) < question.index("<text")
    assert all("original" not in thought.metadata for thought in result.run.thoughts)


async def test_an_original_is_shown_where_there_is_one() -> None:
    versions = ("It costs 6 dollars at example.org.", "It costs 6 dollars.")
    recorder, _ = await recorded(*versions, policy="judged", width=1)
    assert recorder.of("compare")
    for question in recorder.of("compare"):
        assert question.count(INPUT) == 1
    recorder, _ = await recorded("A first draft.", "A second draft.", text="")
    assert recorder.of("review")
    assert not any("<original" in question for question in recorder.of("review"))


async def test_a_section_is_judged_beside_the_same_section_of_the_original() -> None:
    before = "\n".join(f"# Part {n}\n\n" + f"Word{n} stands here. " * 70 for n in range(3))
    original = Thought(text=before)
    for after, shown in (("is", 3), ("stands", 0), ("# Part 4\n\nstands", 0)):
        judge = ScriptedJudge({"verdict": "accept"})
        critic = SectionedCritic(SelfRefineCritic().bind(judge.binding), 3_000)
        version = Thought(text=before.replace("stands", after))
        await critic.critique(with_original(version, original))
        originals = [
            asked.question.partition("<original")[2].partition("</original")[0]
            for asked in judge.asked
            if "<original" in asked.question
        ]
        assert len(originals) == shown
        assert [n for n in range(3) for each in originals if f"Word{n} " in each] == [*range(shown)]


async def test_the_marks_of_what_lasts_are_the_same_for_all_versions_and_no_others() -> None:
    document = Document(id="d", title="Prices", text="It costs 6 dollars.")
    recorder, _ = await recorded("One.", "Two.", "Three.", retrievers=[MockRetriever([document])])

    def opened(question: str, label: str) -> str:
        return next(line for line in question.splitlines() if line.startswith(f"<{label} id="))

    for label in ("task", "document", "original", "aspects"):
        assert len({opened(question, label) for question in recorder.of("review")}) == 1
    assert len({opened(question, "text") for question in recorder.of("review")}) == 3
    assert len({opened(question, "documents") for question in recorder.of("write")}) == 1
    marks = [
        opened(question, "text") for question in (*recorder.of("write"), *recorder.of("review"))
    ]
    assert len(set(marks)) == len(marks)


async def asked(text: str, **settings: Any) -> list[str]:
    """The questions to the writer."""
    writer = Writer(*[f"{'word ' * count}end" for count in range(8, 0, -1)])
    rules = [{"type": "length", "max_words": 1}]
    chain = Chain(model=writer.model, critics=[], validators=rules, max_iterations=1, **settings)
    await chain.run("" if text else "Write a word.", text=text)
    return writer.of("write")


@pytest.mark.parametrize(
    ("text", "rounds"), [("a b c", 1), ("", 2)], ids=["a revision", "a first version"]
)
async def test_drafts_of_one_round_differ_in_their_last_line(text: str, rounds: int) -> None:
    questions = await asked(text, policy="best_of_n", width=3)
    assert len(questions) == 3 * rounds
    # They are asked at the same time.
    together = sorted(questions[:3], key=lambda question: "of several" in question)
    first, *others = (re.sub(r" id=\w+", "", question) for question in together)
    assert "of several" not in first
    for number, other in enumerate(sorted(others), 2):
        assert other.startswith(f"{first}\n\nThis is draft {number} of several ")
