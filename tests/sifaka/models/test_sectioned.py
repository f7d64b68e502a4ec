"""A writer that works on a long text section by section."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from sifaka.errors import BudgetExceeded
from sifaka.models import Generation
from sifaka.models.sectioned import in_place_of, write_text
from sifaka.models.writing import writing_prompt
from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.testing import ScriptedModel
from sifaka.text.sections import split
from tests.stubs.long_documents import SECTION_CHARS, document, part, title_of

pytestmark = pytest.mark.anyio

Writing = Callable[..., Awaitable[Generation]]

NAMES = ("Alpha", "Beta", "Gamma", "Delta")
TEXT = document(*NAMES)
TASK = "Make it friendlier."


def numbered(generation: Generation) -> list[str]:
    """The outcome of each section."""
    told: Any = generation.metadata["sections"]
    return [section["status"] for section in told]


def reasons(generation: Generation) -> list[str]:
    told: Any = generation.metadata["sections"]
    return [section["reason"] for section in told if "reason" in section]


def by_title(answers: dict[str, str | Exception]) -> Callable[[Thought], str]:
    """Writes what stands under the title, and gives back any other section as it is."""

    def line(thought: Thought) -> str:
        answer = answers.get(title_of(thought.text), thought.text)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return line


def writer(line: Callable[[Thought], str], **settings: bool) -> tuple[Writing, ScriptedModel]:
    scripted = ScriptedModel(lines=[line] * 50)
    return partial(write_text, scripted, section_chars=SECTION_CHARS, **settings), scripted


def about(*issues: Issue, suggestions: tuple[str, ...] = (), text: str = TEXT) -> Thought:
    """The document with a critic's remarks on it."""
    said = CriticFeedback(critic="c", verdict="revise", issues=issues, suggestions=suggestions)
    return Thought(text=text, critic_feedback=(said,))


def at(quote: str, message: str = "mend it", text: str = TEXT) -> Issue:
    start = text.index(quote)
    return Issue.at(text, start, start + len(quote), message)


async def test_a_short_text_and_one_that_there_is_not_yet_are_written_as_a_whole() -> None:
    text = TEXT[:SECTION_CHARS]
    model, scripted = writer(lambda thought: "new")
    generation = await model(Thought(prompt=TASK, text=text))
    assert (generation.text, "sections" in generation.metadata) == ("new", False)
    assert [seen.text for seen in scripted.seen] == [text]
    text = "\n\n".join(
        f"Line {n} is not like line {n + 1} of it." for n in range(SECTION_CHARS // 20)
    )
    model, _ = writer(lambda thought: text)
    assert (await model(Thought(prompt=TASK))).text == text


FORM_ALONE = CriticFeedback(critic="lint", verdict="accept", judges_task=False)
SENT: dict[str, tuple[Thought, list[str]]] = {
    "without anything to do none": (Thought(text=TEXT), []),
    "a remark that quotes a title": (about(suggestions=('Say more in "Beta".',)), ["Beta"]),
    "or says it": (about(suggestions=("The section Delta needs an example.",)), ["Delta"]),
    "or has its number": (about(suggestions=("[section 3: Gamma] shorten it",)), ["Gamma"]),
    "one without a place": (about(suggestions=("It is too formal.",)), [*NAMES]),
    "where critics have weighed the task only what they name": (
        about(at("the gamma does")).model_copy(update={"prompt": TASK}),
        ["Gamma"],
    ),
    "a critic of form alone does not say that the task is done": (
        Thought(prompt=TASK, text=TEXT, critic_feedback=(FORM_ALONE,)),
        [*NAMES],
    ),
    "a task that names a section": (
        Thought(prompt='Shorten the section "Beta".', text=TEXT),
        ["Beta"],
    ),
}


@pytest.mark.parametrize("case", SENT)
async def test_the_sections_that_something_is_to_be_done_in_are_sent(case: str) -> None:
    thought, titles = SENT[case]
    model, scripted = writer(lambda thought: thought.text)
    generation = await model(thought)
    assert generation.text == TEXT
    assert [title_of(seen.text) for seen in scripted.seen] == titles
    kept = ["kept" if name in titles else "untouched" for name in NAMES]
    assert numbered(generation) == kept
    said = [text for each in thought.critic_feedback for text in each.suggestions]
    for seen in scripted.seen:
        for feedback in seen.critic_feedback:
            assert all(heard in "".join(said) for heard in feedback.suggestions)


@pytest.mark.parametrize(
    ("quote", "titles"),
    [
        ("the gamma does", ["Gamma"]),
        (TEXT[TEXT.index("## Beta") + 100 : TEXT.index("## Delta") - 100], ["Beta", "Gamma"]),
    ],
    ids=["in one section", "over several"],
)
async def test_an_issue_is_told_in_each_section_for_its_part(quote: str, titles: list[str]) -> None:
    model, scripted = writer(lambda thought: thought.text)
    await model(about(at(quote)))
    assert [title_of(seen.text) for seen in scripted.seen] == titles
    for seen in scripted.seen:
        ((issue,),) = (feedback.issues for feedback in seen.critic_feedback)
        assert issue.quote
        assert issue.start is not None
        assert seen.text[issue.start :].startswith(issue.quote)


async def test_what_is_missing_once_is_asked_for_once() -> None:
    missing = Issue(message="does not mention 'the gamma fee'", category="content")
    failed = ValidationResult(
        passed=False,
        validator="content",
        message="1 term is missing",
        issues=(missing,),
        suggestions=("mention the fee",),
    )
    thought = Thought(text=TEXT, validation_results={"content": failed})
    model, scripted = writer(lambda thought: thought.text)
    await model(thought)
    (seen,) = scripted.seen
    assert title_of(seen.text) == "Gamma", "it has most words in common with what is missing"
    assert "mention the fee" in writing_prompt(seen)


async def test_a_section_is_told_the_outline_its_neighbours_and_the_shared_terms() -> None:
    text = TEXT.replace("leaves the rest", "asks Blue Harbor")
    model, scripted = writer(lambda thought: thought.text)
    await model(Thought(prompt=TASK, text=text))
    prompt = writing_prompt(scripted.seen[1])
    assert "section 2 of 4 of a longer document" in prompt
    assert "Handbook\n  Alpha\n  Beta" in prompt
    assert "before: Handbook / Alpha\nafter: Gamma\n" in prompt
    assert "Blue Harbor\n</terms" in prompt
    assert "the alpha does" not in prompt, "of the others there are only the headings"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("## Beta\n\nNew words.", "## Beta\n\nNew words.\n\n"),
        ("The new beta.", "## Beta\n\nThe new beta.\n\n"),
        ("Beta\n\nNew words.\n\n\n\n", "## Beta\n\nNew words.\n\n"),
        ("**Beta**\nNew words.", "## Beta\nNew words.\n\n"),
        ("# Beta\n\nNew words.", "## Beta\n\nNew words.\n\n"),
        ("Beta\n====\n\nNew words.", "## Beta\n\nNew words.\n\n"),
        ("## Better Beta\n\nNew words.", "## Better Beta\n\nNew words.\n\n"),
        ("#### Better Beta\n\nNew words.", "## Better Beta\n\nNew words.\n\n"),
    ],
)
async def test_the_heading_and_the_space_around_a_section_stay(answer: str, shown: str) -> None:
    model, _ = writer(by_title({"Beta": answer}))
    generation = await model(about(at("## Beta")))
    assert generation.text == TEXT.replace(part("Beta"), shown)


@pytest.mark.parametrize("opening", ["\t# no heading\nTitle\n---", "    # code\n\n## Beta"])
def test_the_same_text_comes_back_as_it_was_whatever_it_begins_with(opening: str) -> None:
    (section,) = split(f"{opening}\n\nWords.\n\n", 1_000)
    assert in_place_of(section, section.text.strip()) == section.text


async def test_windows_line_ends_stay() -> None:
    text = TEXT.replace("\n", "\r\n")
    model, _ = writer(lambda thought: thought.text.replace("tells", "says\nnow"))
    generation = await model(Thought(prompt=TASK, text=text))
    assert generation.text == text.replace("tells", "says\r\nnow")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("  \n", "is empty"),
        (part("Beta") + "```\nx = 1\n", "code block open"),
        (part("Beta") + part("Gamma"), "brings other sections along: 'gamma'"),
        (part("Beta"), "the same text"),
    ],
)
async def test_what_cannot_stand_in_the_place_of_a_section_is_turned_down(
    answer: str, reason: str
) -> None:
    model, _ = writer(by_title({"Beta": answer, "Gamma": part("Gamma", 3)}))
    generation = await model(Thought(prompt=TASK, text=TEXT))
    assert generation.text == TEXT.replace(part("Gamma"), part("Gamma", 3))
    assert numbered(generation)[1:3] == ["kept", "improved"]
    assert reason in reasons(generation)[1]
    assert "degraded" not in generation.metadata


async def test_without_a_task_what_is_protected_must_survive_in_its_section() -> None:
    text = TEXT.replace("leaves the rest", "leaves 42 of the rest")
    lossy = by_title({"Beta": part("Beta"), "Gamma": "It has 42."})
    model, _ = writer(lossy)
    generation = await model(about(text=text, suggestions=("shorten",)))
    assert numbered(generation)[1:3] == ["kept", "improved"]
    assert "the answer loses '42'" in reasons(generation)
    for thought, settings in (
        (Thought(prompt=TASK, text=text), {"protect": True}),
        (about(text=text, suggestions=("shorten",)), {"protect": False}),
    ):
        model, _ = writer(lossy, **settings)
        generation = await model(thought)
        assert numbered(generation)[1:3] == ["improved", "improved"]


async def test_a_section_whose_writer_stumbles_costs_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model, _ = writer(by_title({"Beta": KeyError("a secret"), "Gamma": "The gamma part is new."}))
    generation = await model(Thought(prompt=TASK, text=TEXT))
    assert numbered(generation) == ["kept", "failed", "improved", "kept"]
    assert "The gamma part is new." in generation.text
    (told,) = generation.metadata["degraded"]  # pyright: ignore
    assert told == "[section 2: Beta] was not written: scripted: broke off with KeyError"
    assert "model:scripted failed" in caplog.text

    model, _ = writer(by_title({"Beta": "beta\0b", "Gamma": "The gamma part is new."}))
    generation = await model(Thought(prompt=TASK, text=TEXT))
    assert numbered(generation) == ["kept", "failed", "improved", "kept"]


async def test_sections_without_room_in_the_budget_stay_and_that_is_told() -> None:
    model, scripted = writer(lambda thought: thought.text.replace("tells", "says"))
    thought = Thought(prompt=TASK, text=TEXT)
    generation = await model(thought, calls=3)
    assert len(scripted.seen) == 3
    assert numbered(generation) == ["improved", "improved", "improved", "kept"]
    assert generation.metadata["degraded"] == (
        "1 of 4 sections were not written: the run's budget of calls is spent",
    )
    with pytest.raises(BudgetExceeded):
        await model(thought, calls=0)


async def test_a_section_without_room_beside_the_others_is_written_after_them() -> None:
    refused: list[str] = []

    def tight(thought: Thought) -> str:
        title = title_of(thought.text)
        if title in {"Alpha", "Gamma"} and title not in refused:
            refused.append(title)
            raise BudgetExceeded("tokens")
        return thought.text.replace("tells", "says")

    model, _ = writer(tight)
    generation = await model(Thought(prompt=TASK, text=TEXT))
    assert refused == ["Alpha", "Gamma"]
    assert numbered(generation) == ["improved"] * 4


async def test_front_matter_and_pieces_of_code_are_never_sent() -> None:
    text = "---\ntitle: x\n---\n" + TEXT + "```\n" + "code line\n" * 300 + "```\n"
    model, scripted = writer(lambda thought: thought.text.replace("tells", "says"))
    generation = await model(Thought(prompt=TASK, text=text))
    assert generation.text == text.replace("tells", "says")
    assert not any("code line" in seen.text or "title:" in seen.text for seen in scripted.seen)


async def test_the_author_is_who_wrote_most_sections_and_usage_is_added_up() -> None:
    def line(thought: Thought) -> str:
        return thought.text.replace("tells", "says")

    one = Generation(text="x", author="fallback", usage=Usage(model_calls=2))

    class Mixed:
        name = "main"

        async def generate_with_thought(self, thought: Thought) -> Generation:
            author = None if title_of(thought.text) == "Alpha" else "fallback"
            return one.model_copy(update={"text": line(thought), "author": author})

    thought = Thought(prompt=TASK, text=TEXT)
    generation = await write_text(Mixed(), thought, section_chars=SECTION_CHARS)
    assert (generation.author, generation.usage.model_calls) == ("fallback", 8)
    assert generation.metered, "what was not metered has been charged section by section"
