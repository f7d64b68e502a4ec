"""Findings of a version and their answers, and tasks that are never skipped."""

from typing import Any, Literal

import pytest

from sifaka import Chain, RunResult
from sifaka.chain.version_comparison import compare
from sifaka.errors import ConfigurationError
from sifaka.models.writing import writing_prompt
from sifaka.record.results import CriticFeedback, Issue, Verdict
from sifaka.record.thought import Document, Thought
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.sifaka.chain.running import submit

pytestmark = pytest.mark.anyio

TEXT = "The bag costs 6 dollars, see https://bags.example/12 for `code`."
LOST = "The bag costs 9 dollars."
KEPT = "The bag is $6: https://bags.example/12, `code`."
SHORTER = "Make this shorter."
CONTENT = ScriptedCritic(objects_to=lambda _: False)
OBJECTS = ScriptedCritic(objects_to=lambda _: True)


ASKED = "The office opens on Monday at 8 and has 14 desks in all."
MOVED = "The office opens on Monday at 8 and has 15 desks in all."


def answers(result: RunResult) -> set[tuple[str, str]]:
    """The answers to the differences of the version that is reported."""
    return {(each.status, each.by) for each in result.findings.differences}


async def waiting(task: str = "Make it friendlier.", **options: Any) -> tuple[Chain, RunResult]:
    """A run whose caller is to rewrite `ASKED`."""
    chain = Chain(critics=["lint"], effort="quick", **options)
    return chain, await chain.run(task, text=ASKED)


async def test_an_open_difference_keeps_a_version_out_and_the_writer_is_told() -> None:
    writer = ScriptedModel(lines=[LOST, KEPT])
    result = await Chain(model=writer, critics=[]).run(SHORTER, text=TEXT)
    assert result.text == KEPT
    refused = result.turned_down[0]
    assert result.run.decisions[refused.id].by == "differences"
    assert ("6 dollars", "9 dollars") in {(d.before, d.after) for d in refused.findings.open}
    told = writing_prompt(writer.seen[1]).partition("<reasons ")[2]
    assert "'6 dollars' became '9 dollars'" in told


@pytest.mark.parametrize(("facts", "text"), [("ask", TEXT), ("require", TEXT), ("off", LOST)])
async def test_facts_weigh_as_much_as_the_option_says(
    facts: Literal["ask", "require", "off"], text: str
) -> None:
    chain = Chain(model=ScriptedModel(lines=[LOST] * 3), critics=[], facts=facts)
    result = await chain.run(SHORTER, text=TEXT)
    assert result.text == text
    compared = any(t.findings.differences for t in result.run.thoughts)
    assert compared is (facts != "off")


async def test_the_task_and_a_required_rule_answer_for_what_they_name() -> None:
    chain, before = await waiting("There are 15 desks now.")
    done = await submit(chain, before, MOVED)
    assert (done.accepted, done.status) == (True, "done")
    assert answers(done) == {("covered", "task")}
    rules = [{"type": "content", "required": ["15 desks"]}]
    chain, before = await waiting("", validators=rules)
    done = await submit(chain, before, MOVED)
    assert (done.accepted, done.status, done.passed) == (True, "done", True)
    assert {status for status, _ in answers(done)} == {"covered"}


async def test_a_source_at_hand_answers_for_what_it_says() -> None:
    class Library:
        name = "library"

        async def retrieve(self, query: str, limit: int = 5) -> list[Document]:
            return [Document(title="Desks", text="The office has 15 desks.")]

    chain, before = await waiting(retrievers=[Library()])
    done = await submit(chain, before, MOVED)
    assert answers(done) <= {("covered", "source"), ("noted", "")}
    assert done.accepted


async def test_the_caller_answers_by_a_reason_alone_and_no_try_is_spent() -> None:
    chain, before = await waiting(max_iterations=1)
    asked = await submit(chain, before, MOVED)
    assert (asked.accepted, asked.status, asked.text) == (False, "needs_revision", ASKED)
    assert asked.brief is not None
    assert "14" in asked.brief.instructions
    assert "15" in asked.brief.instructions
    done = await submit(chain, before, reason="One came in May.")
    assert (done.accepted, done.status, done.text) == (True, "done", MOVED)
    assert answers(done) == {("accepted", "caller")}
    assert {each.reason for each in done.findings.accepted} == {"One came in May."}
    assert (done.judged_by, done.passed) == ("caller", True)
    assert (await chain.replay(before.run_id)).differences == ()


async def test_reasons_cover_only_what_they_quote_and_no_required_fact() -> None:
    chain, before = await waiting(facts="require")
    for _ in range(2):
        told = await submit(chain, before, MOVED, reason="One came: 15.")
        assert (told.accepted, told.text) == (False, ASKED)
        assert told.findings.open
    chain, before = await waiting()
    both = MOVED.replace("Monday", "Tuesday")
    told = await submit(chain, before, both, reason="There are 15 desks.")
    assert not told.accepted
    assert {each.after for each in told.findings.open} == {"Tuesday"}
    chain, before = await waiting()
    with pytest.raises(ConfigurationError, match="characters"):
        await submit(chain, before, MOVED, reason="x" * 501)
    assert (await chain.store.load(before.run_id)) == before.run


async def test_a_caller_that_gives_a_reason_for_everything_loses_no_rule_and_is_on_record() -> None:
    rules = [{"type": "content", "required": ["Monday"]}]
    chain, before = await waiting("", validators=rules, facts="ask")
    if before.status == "done":
        chain, before = await waiting(validators=rules, facts="ask")
    lie = "14 desks, 15 desks, Monday, 8, 9: all of it was asked for."
    broken = "The office opens at 9 and has 15 desks in all."
    for text in (broken, f"{broken} "):
        told = await submit(chain, before, text, reason=lie)
        assert (told.accepted, told.text, told.passed) == (False, ASKED, False)
        assert chain.config.facts == "ask"
    done = await submit(chain, before, MOVED, reason=lie)
    assert (done.accepted, done.text) == (True, MOVED)
    assert {(each.by, each.reason) for each in done.findings.accepted} == {("caller", lie)}
    assert done.run.decisions[done.thought.id].by == "caller"


async def test_a_limit_in_the_words_of_the_task_is_asked_about_once() -> None:
    chain = Chain(critics=["lint"], effort="quick")
    before = await chain.run("Say it in under 5 words.", text=ASKED)
    asked = await submit(chain, before, "Open on Monday at 8, 14 desks in all.")
    assert not asked.accepted
    assert {each.kind for each in asked.findings.open} == {"length"}
    done = await submit(chain, before, "Opens on Monday at 8, 14 desks in all.")
    assert (done.accepted, done.status) == (True, "done")
    assert [limit.met for limit in done.findings.asked] == [False]


async def test_the_sheet_comes_with_the_first_version_that_passes_and_lists_what_is_gone() -> None:
    chain = Chain(validators=[{"type": "content", "required": ["desks"]}])
    begun = await chain.run("Call each a desk. The fee is 12 euros.", text=ASKED + " Ask Tom Hall.")
    lacking = await submit(chain, begun, "The office opens on Monday at 8 and has 14 seats.")
    assert lacking.brief is not None
    assert not lacking.brief.sheet, "first the rule"
    first = await submit(chain, lacking, ASKED.replace("14", "14 big"))
    assert first.brief is not None
    sheet = "\n".join(first.brief.sheet)
    assert "Left out on purpose? Of the task: '12 euros'" in sheet
    assert "Meant to go? lost 'Tom Hall'" in sheet
    ended = await submit(chain, first, "", accept=True)
    assert (ended.status, ended.stop_reason) == ("done", "accepted")


NOTES = """Write the mail to the customer. At most 30 words.

Notes:
- 14 panes were ordered and 12 came on 3 February; of these one has a scratch of 6 cm, lower left
- correct the price of the scratched pane only if she keeps it: then she pays 25% less than the list
  price, which is 318.00; she has to say so by 10 February, or else we replace the pane in 3 weeks
- the two that are missing leave the factory on 13 February and reach her on 17 February; the driver
  takes the scratched pane back, so it has to stay on site and must not be built in by anybody
"""


async def test_what_a_text_lacks_of_the_notes_in_its_task_is_told_before_anybody_writes() -> None:
    text = "Dear customer, 12 of your 14 panes came on 3 February. Keep the scratched pane for us."
    chain = Chain(validators=[], model="caller")
    begun = await chain.run(NOTES, text=text)
    assert begun.brief is not None
    (absent,) = begun.brief.sheet
    assert absent.startswith("Not in it yet, of the task:")
    assert "has a scratch of 6 cm, lower left" in absent
    assert "so it has to stay on site" in absent
    assert "14 panes" not in absent, "the text has that"
    version = text.replace("Keep the scratched pane for us.", "Please keep the scratched one.")
    first = await submit(chain, begun, version)
    assert first.accepted
    assert first.brief is not None
    # The notes say `only`, and `correct`: neither is an instruction.
    assert not any(each.kind == "scope" for each in first.findings.differences)
    assert first.brief.sheet[0].endswith("Write the mail to the customer. At most 30 words.")


async def test_mistakes_of_parts_that_the_task_leaves_alone_are_not_listed() -> None:
    text = "# One\n\nIt is teh first.\n\n# Two\n\nIt is teh second."
    begun = await Chain(model="caller").run("Shorten only section 2.", text=text)
    assert begun.brief is not None
    assert [issue.start for issue in begun.brief.issues] == [text.rindex("teh")]


async def test_submissions_that_are_never_taken_come_to_an_end() -> None:
    chain, before = await waiting(max_iterations=1)
    told = [
        await submit(chain, before, ASKED.replace("14", str(number))) for number in range(20, 26)
    ]
    assert not any(each.accepted for each in told)
    last = told[-1]
    assert (last.status, last.stop_reason, last.text) == ("done", "stalled", ASKED)


async def test_a_required_length_far_below_the_input_lets_facts_go() -> None:
    text = "The hall has 7 doors. It was built in 1931. Each ticket costs 15 euros, as always."
    short = "The hall has 7 doors."
    rule = [{"type": "length", "max_words": 6}]
    result = await Chain(model=ScriptedModel(lines=[short]), critics=[], validators=rule).run(
        text=text
    )
    assert result.text == short


@pytest.mark.parametrize("critics", [[], ["lint"]])
async def test_a_task_is_written_for_although_no_critic_asks_for_it(critics: list[str]) -> None:
    writer = ScriptedModel(lines=["Le sac coûte 6 dollars."])
    chain = Chain(model=writer, critics=critics)
    result = await chain.run("Translate into French.", text="The bag costs 6 dollars.")
    assert result.text == "Le sac coûte 6 dollars."
    assert (result.status, result.passed, result.stop_reason) == ("done", False, "unchecked")
    assert [issue.message for issue in result.left] == [
        "no model judged whether the text does what the task asks"
    ]


NO_TRANSLATIONS = (
    "...",
    "[translated text]",
    "I cannot assist with this request.",
    "Je suis désolé, je ne peux pas vous aider.",
    "Es tut mir leid, ich kann dabei leider nicht helfen.",
    "抱歉，我无法翻译。",
    "Please provide the text you would like me to translate.",
    "Hello! How can I help you today?",
    "Please send your questions before the meeting.",
)
"""Answers to a task to translate that a critic who accepts everything lets through."""


@pytest.mark.parametrize("answer", NO_TRANSLATIONS)
async def test_what_is_no_translation_never_stands_for_one(answer: str) -> None:
    text = "Please send your questions before the meeting. There is coffee for all who come early."
    chain = Chain(model=ScriptedModel(lines=[answer]), critics=[CONTENT], max_iterations=1)
    result = await chain.run("Translate into French.", text=text)
    assert (result.text, result.passed) == (text, False)
    assert any("the task was not carried out" in issue.message for issue in result.left)


def in_french(thought: Thought) -> str:
    """The French of a section of the long input."""
    return thought.text.replace(TEXT, FRENCH).replace(MORE, MORE_FRENCH)


class Nitpicker:
    """Accepts everything, and finds a small thing, or a large one, in whatever is not English."""

    name = "nitpicker"

    def __init__(self, verdict: Verdict = "accept") -> None:
        self._verdict: Verdict = verdict

    async def critique(self, thought: Thought) -> CriticFeedback:
        text = thought.text
        if "sac" not in text:
            return CriticFeedback(verdict="accept")
        return CriticFeedback(verdict=self._verdict, issues=(Issue.at(text, 0, 2, "odd"),))


FRENCH = "Le sac coûte 6 dollars, voir https://bags.example/12 pour `code`."
MORE, MORE_FRENCH = " Many shops have it.", " Tous les magasins ont ce sac."
LONG = TEXT + MORE * 100
"""An input that is longer than a section is reviewed before anybody writes."""
OPEN = "the task was not carried out: no version that was written for it was kept"


@pytest.mark.parametrize("task", ["Translate into French.", "Make it rhyme."])
async def test_an_input_that_a_critic_accepts_as_it_does_each_try_does_not_pass(task: str) -> None:
    writer = ScriptedModel(lines=[in_french] * 20)
    chain = Chain(model=writer, critics=[Nitpicker()], facts="off", section_chars=2_000)
    result = await chain.run(task, text=LONG)
    assert (result.text, result.passed) == (LONG, False)
    assert [issue.message for issue in result.left] == [OPEN]


@pytest.mark.parametrize(
    ("task", "passed"),
    [
        ("Translate into French.", False),
        ("翻译成法语", False),
        ("Translate into German.", False),
        ("Translate into English.", True),
        ("Make it rhyme.", True),
    ],
)
async def test_an_input_in_another_language_is_never_its_translation(
    task: str, passed: bool
) -> None:
    writer = ScriptedModel(lines=[in_french] * 20)
    chain = Chain(model=writer, critics=[Nitpicker("revise")], facts="off", section_chars=2_000)
    result = await chain.run(task, text=LONG)
    assert (result.text, result.passed) == (LONG, passed)


async def test_of_two_versions_for_a_task_that_a_critic_accepts_the_first_stays() -> None:
    original = Thought(text="The bag costs 6 dollars.", author="input")
    accepted = (CriticFeedback(critic="content", verdict="accept"),)
    first, second = (
        Thought(text=text, prompt="Translate.", author="scripted", critic_feedback=accepted)
        for text in ("Le sac coûte 6 dollars.", "Ce sac coûte 6 dollars.")
    )
    assert compare(first, original, original).accepted
    assert not compare(second, first, original).accepted


NOT_DONE: dict[str, tuple[list[str], Any, dict[str, Any]]] = {
    "a critic misses it, and no version does it": ([TEXT], [OBJECTS], {}),
    "each version lost facts": ([LOST, f"{LOST} "], ["lint"], {}),
    "the input was accepted, and each version lost facts": (
        [LOST] * 3,
        [CONTENT],
        {"look_back": 0},
    ),
}


@pytest.mark.parametrize("case", NOT_DONE)
async def test_a_task_that_no_version_does_is_told_as_open(case: str) -> None:
    lines, critics, options = NOT_DONE[case]
    chain = Chain(model=ScriptedModel(lines=lines), critics=critics, max_iterations=2, **options)
    result = await chain.run(SHORTER, text=TEXT)
    assert (result.text, result.passed) == (TEXT, False)
    assert OPEN in [issue.message for issue in result.left]


async def test_the_editor_alone_says_that_the_task_is_left() -> None:
    result = await Chain(model="editor").run("Translate into French.", text="It is a good bag.")
    assert (result.status, result.passed) == ("done", False)
    assert any("the task was ignored" in line for line in result.degraded)
    assert "the task was not carried out" in result.left[-1].message


async def test_a_first_brief_says_which_limits_of_the_task_the_text_does_not_meet() -> None:
    begun = await Chain(model="caller").run("Say it in at most 5 words.", text=ASKED)
    assert begun.brief is not None
    assert begun.brief.sheet == ("at most 5 words: it has 13",)
    met = await Chain(model="caller").run("Say it in at most 50 words.", text=ASKED)
    assert met.brief is not None
    assert met.brief.sheet == ()


async def test_a_worse_version_after_the_sheet_is_to_be_mended_and_ends_nothing() -> None:
    chain = Chain(model="caller", validators=[{"type": "length", "max_words": 13}])
    begun = await chain.run("Make it friendlier.", text=ASKED)
    first = await submit(chain, begun, ASKED.replace("all.", "all!"))
    longer = ASKED.replace("in all.", "in all, dear all of you!")
    second = await submit(chain, first, longer)
    assert (second.accepted, second.status) == (False, "needs_revision")
    assert second.brief is not None
    assert "accept=True" in second.brief.instructions
    done = await submit(chain, second, "", accept=True)
    assert (done.status, done.text) == ("done", ASKED.replace("all.", "all!"))
