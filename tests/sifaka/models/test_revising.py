"""Versions that say what changes: a model's edits, and the fixes of a review."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from sifaka import Chain, RunResult
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedModel
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

FILLER = "The parcel is kept at the desk for two weeks, and then it goes back to the shop. " * 5
TEXT = f"Dear reader, there plan has three steps.\n\n{FILLER}\n\nKind regards, the the team."
BETTER = TEXT.replace("there plan", "their plan").replace("the the team", "the team")
EDITS = {
    "edits": [
        {"find": "there plan", "replace": "their plan", "why": "a possessive"},
        {"find": "the the team", "replace": "the team"},
    ]
}


@dataclass(kw_only=True)
class Reviewer:
    """A critic that reports these words, with these fixes, while they stand in the text."""

    fixes: Mapping[str, str | None]
    suggestions: tuple[str, ...] = ()
    name: str = "reviewer"

    async def critique(self, thought: Thought) -> CriticFeedback:
        found = [
            Issue.at(thought.text, at, at + len(words), f"{words!r} is wrong", fix=fix)
            for words, fix in self.fixes.items()
            if (at := thought.text.find(words)) >= 0
        ]
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if found else "accept",
            issues=tuple(found),
            suggestions=self.suggestions if found else (),
        )


PLACES = Reviewer(fixes={"there plan": None, "the the team": None})


async def run(
    writer: Writer, critic: Reviewer = PLACES, text: str = TEXT, **settings: Any
) -> RunResult:
    chain = Chain(model=writer.model, critics=[critic], fixes="none", look_back=0, **settings)
    return await chain.run(text=text)


@pytest.mark.parametrize(
    "fenced",
    [
        "{}",
        "```json\n{}\n```",
        "Here are the edits:\n\n{}",
        "Here are the edits:\n\n```json\n{}\n```\n\nI hope that this helps.",
    ],
)
async def test_edits_lead_to_the_next_version_and_their_reasons_are_kept(fenced: str) -> None:
    writer = Writer(fenced.replace("{}", json.dumps(EDITS)))
    result = await run(writer)
    assert result.text == BETTER
    assert len(writer.asked) == 1
    assert '{"edits": [{"find"' in writer.of("write")[0]
    reasons = {hunk.before.strip(): hunk.reason for hunk in result.diff if hunk.op != "equal"}
    assert reasons["there"] == "a possessive"


async def test_the_complete_text_is_an_answer_too() -> None:
    writer = Writer(BETTER)
    assert (await run(writer)).text == BETTER
    assert len(writer.asked) == 1


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([{"find": "the", "replace": "a"}], "occurs"),
        ([{"find": "words of nobody", "replace": "a"}], "occurs 0 times"),
        ([{"find": "there plan", "with": "their plan"}], "not in the form"),
        ("their plan", "not in the form"),
    ],
)
async def test_edits_that_do_not_fit_are_shown_to_their_writer_once(edits: Any, why: str) -> None:
    refused = json.dumps({"edits": edits})
    writer = Writer(refused, BETTER)
    assert (await run(writer)).text == BETTER
    assert refused in writer.of("write")[1]
    assert why in writer.of("write")[1]
    garbled = Writer(f"Here they are: {refused[:-4]}", BETTER)
    assert (await run(garbled)).text == BETTER
    assert "the edits" in garbled.of("write")[1]
    stubborn = Writer(refused)
    result = await run(stubborn, max_iterations=1)
    assert (result.text, len(stubborn.asked)) == (TEXT, 2)


async def test_the_whole_text_is_asked_for_where_edits_cannot_be_told() -> None:
    writer = Writer(BETTER)
    rules: list[dict[str, Any]] = [{"type": "content", "required": ["Rome"]}]
    rules.append({"type": "length", "max_words": 9, "required": False})
    await run(writer, validators=rules)
    assert '"edits"' not in writer.of("write")[0]
    assert "- content must pass" in writer.of("write")[0]
    assert "- length should pass" in writer.of("write")[0]

    text = json.dumps({"edits": [{"find": "the the team", "replace": FILLER}]})
    better = text.replace("the the", "the")
    writer = Writer(better)
    result = await run(writer, Reviewer(fixes={"the the": None}), text, facts="off")
    assert result.text == better
    assert "Answer with the text alone" in writer.of("write")[0]


FIXES = {"there plan": "their plan", "the the team": "the team"}


async def test_the_fixes_of_a_review_are_made_without_a_call() -> None:
    writer = Writer()
    result = await run(writer, Reviewer(fixes=FIXES))
    assert (result.text, result.stop_reason) == (BETTER, "passed")
    assert (writer.asked, result.usage.model_calls) == ([], 0)
    reasons = {hunk.before.strip(): hunk.reason for hunk in result.diff if hunk.op != "equal"}
    assert reasons["there"] == "'there plan' is wrong"


async def test_the_end_of_a_text_and_its_paragraphs_stay() -> None:
    text = "One.\n\nIt is said twice.\n\nThree.\n"
    critic = Reviewer(fixes={"It is said twice.": ""})
    assert (await run(Writer(), critic, text)).text == "One.\n\nThree.\n"
    last_line = "One.\nIt is said twice.\n\nThree.\n"
    result = await run(Writer(), critic, last_line)
    assert result.text == "One.\n\n\nThree.\n", "no paragraphs are joined"

    writer, critic = Writer("It is the team."), Reviewer(fixes={"the the team": None})
    for end in ("", "\n"):
        assert (
            await run(writer, critic, f"It is the the team.{end}")
        ).text == f"It is the team.{end}"


async def test_what_a_review_says_to_the_author_is_left_to_him() -> None:
    @dataclass(kw_only=True)
    class Content(Reviewer):
        async def critique(self, thought: Thought) -> CriticFeedback:
            return CriticFeedback(
                critic=self.name, verdict="accept", suggestions=("The items add up to 12.",)
            )

    chain = Chain(model=ScriptedModel(lines=[]), critics=[Content(fixes={})], fixes="none")
    result = await chain.run(text="Items of 5 and 7 make 13.")
    assert (result.status, result.changed) == ("done", False)
    assert [(each.category, each.message) for each in result.left] == [
        ("suggestion", "The items add up to 12.")
    ]


@pytest.mark.parametrize(
    "critic",
    [
        Reviewer(fixes={**FIXES, "two weeks": None}),
        Reviewer(fixes={**FIXES, "The parcel": "A parcel"}),
        Reviewer(fixes={**FIXES, "plan has": "plan had"}),
        Reviewer(fixes=FIXES, suggestions=("Say when it begins.",)),
    ],
    ids=["one without a fix", "words that stand twice", "two in one place", "more to do"],
)
async def test_where_fixes_are_not_all_a_writer_is_asked(critic: Reviewer) -> None:
    writer = Writer(BETTER)
    await run(writer, critic, max_iterations=1)
    assert len(writer.asked) == 1


async def test_fixes_that_were_turned_down_are_not_made_again() -> None:
    raised = Reviewer(fixes={"two weeks": "3 weeks"})
    text = "It is kept for two weeks."
    writer = Writer("It is kept for two full weeks.")
    result = await run(writer, raised, text, facts="require")
    assert result.run.thoughts[1].text == "It is kept for 3 weeks."
    assert not result.run.decisions[result.run.thoughts[1].id].accepted
    assert "turned down" in writer.of("write")[0]
