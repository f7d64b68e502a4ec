"""`docs/critics.md` against the catalogue of critics, and its constitution against the parser."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.calls.component import Binding
from sifaka.critics import CRITICS, PromptCritic, parse_critics
from sifaka.critics.constitutional import (
    BUILT_IN,
    MOST_PRINCIPLES,
    ConstitutionalCritic,
    load_constitution,
    version_of,
)
from sifaka.critics.n_critics import ROLES
from sifaka.critics.opinion import LONGEST_REMARK, MOST_ISSUES, MOST_SUGGESTIONS
from sifaka.critics.reflexion import MEMORY
from sifaka.critics.self_rag import SelfRAGCritic
from sifaka.critics.self_refine import SelfRefineCritic
from sifaka.record.thought import Document, Thought
from sifaka_mcp.constitutions import FOLDER, read_constitution
from tests.docs.markdown import blocks, code, headings, read, section, table

DOCUMENT = "docs/critics.md"
ROWS = {code(row[0])[0]: row[1:] for row in table(section(DOCUMENT, "Critics"))}


def default(kind: str) -> Any:
    return PromptCritic(rubric="Is it right?") if kind == "prompt" else CRITICS[kind]()


def test_every_critic_is_told_in_the_order_of_the_catalogue_with_a_section() -> None:
    assert list(ROWS) == list(CRITICS)
    assert set(CRITICS) <= set(headings(read(DOCUMENT)))


@pytest.mark.parametrize("kind", CRITICS)
def test_a_critic_names_the_papers_that_its_code_names(kind: str) -> None:
    number = r"\d{4}\.\d{5}"
    assert set(re.findall(number, ROWS[kind][0])) == set(
        re.findall(number, CRITICS[kind].__doc__ or "")
    )


@pytest.mark.parametrize("kind", sorted(set(CRITICS) - {"reflexion", "self_rag", "evidence"}))
def test_a_critic_makes_as_many_calls_as_told(kind: str) -> None:
    (told,) = re.findall(r"(\d+)$", ROWS[kind][1])
    assert default(kind).calls() == int(told)


def test_the_most_calls_of_self_rag_are_those_of_its_defaults() -> None:
    critic = SelfRAGCritic()
    assert f"at most {1 + critic.max_claims}" in ROWS["self_rag"][1]
    text = section(DOCUMENT, "self_rag")
    assert f"`max_claims` ({critic.max_claims})" in text
    assert f"`max_passages` ({critic.max_passages})" in text


def test_the_numbers_of_the_critics_are_those_of_the_code() -> None:
    assert f"the last {MEMORY} lessons" in section(DOCUMENT, "reflexion")
    aspects = " ".join(section(DOCUMENT, "self_refine").split())
    assert all(f'"{aspect}"' in aspects for aspect in SelfRefineCritic().aspects)
    built_in = " ".join(section(DOCUMENT, "constitutional").split())
    assert f"six built-in ones are taken: {', '.join(each.name for each in BUILT_IN)}." in built_in
    assert len(BUILT_IN) == 6
    assert len(ROLES) == 4
    quotes = " ".join(section(DOCUMENT, "Quotes").split())
    assert f"{MOST_ISSUES} issues and {MOST_SUGGESTIONS} suggestions" in quotes
    assert f"at most {LONGEST_REMARK} characters" in quotes
    assert f"1 to {MOST_PRINCIPLES} principles" in section(DOCUMENT, "Constitution files")


def test_every_option_of_a_constitution_is_told() -> None:
    told = [code(row[0])[0] for row in table(section(DOCUMENT, "constitutional"))]
    assert set(told) == set(ConstitutionalCritic.model_fields) - {"type", "name", "model"}


def test_both_forms_of_the_constitution_are_one_with_the_version_that_is_told() -> None:
    (as_yaml,) = blocks(DOCUMENT, "yaml")
    (as_markdown,) = blocks(DOCUMENT, "markdown")
    principles = load_constitution("house.yaml", lambda _: as_yaml.content)
    assert principles == load_constitution("house.md", lambda _: as_markdown.content)
    assert len(principles) == 2
    (told,) = re.findall(r"\*\*version\*\* is `(\w+)`", section(DOCUMENT, "Constitution files"))
    assert version_of(principles) == told


def test_the_server_reads_the_constitution_from_the_folder_that_is_told(tmp_path: Path) -> None:
    (as_yaml,) = blocks(DOCUMENT, "yaml")
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "house.yaml").write_text(as_yaml.content, encoding="utf-8")
    assert f"`{FOLDER}/house.yaml` in `SIFAKA_HOME`" in section(DOCUMENT, "Constitution files")
    spec = {"type": "constitutional", "file": "house.yaml"}
    (critic,) = parse_critics([spec], read_file=partial(read_constitution, tmp_path))
    assert critic.calls() == 2


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["self_refine", "prompt", "constitutional", "n_critics"])
async def test_a_judge_is_shown_what_is_told_and_no_more(kind: str) -> None:
    asked: list[str] = []

    def judge(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(str(messages))
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"verdict": "accept"})])

    thought = Thought(
        prompt="THE TASK",
        text="THE VERSION",
        author="THE AUTHOR",
        run_id="run_0123456789abcdef",
        lessons=("THE LESSON",),
        model_prompt="THE QUESTION TO THE WRITER",
        pre_generation_context=(Document(text="THE DOCUMENT"),),
        metadata={"original": "THE ORIGINAL"},
    )
    await default(kind).bind(Binding(model=FunctionModel(judge))).critique(thought)
    assert asked
    for question in asked:
        shown = ("THE TASK", "THE ORIGINAL", "THE VERSION", "THE DOCUMENT")
        assert all(each in question for each in shown)
        hidden = ("THE AUTHOR", thought.run_id, "THE LESSON", "TO THE WRITER")
        assert not any(word in question for word in hidden)
