"""Critics as data: parsed, refused with one clear line, and built again elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from sifaka.calls.component import Binding
from sifaka.critics import (
    CRITICS,
    LintCritic,
    NCriticsCritic,
    SelfRAGCritic,
    SelfRefineCritic,
    parse_critics,
)
from sifaka.errors import ConfigurationError
from sifaka.record.thought import Thought
from sifaka.retrievers.in_memory import MockRetriever
from tests.sifaka.critics.scripted_judge import ScriptedJudge

NEEDED: dict[str, dict[str, Any]] = {"prompt": {"rubric": "Is it short?"}}


def test_the_catalogue_holds_every_technique() -> None:
    assert set(CRITICS) == {
        "lint", "style", "self_refine", "prompt", "reflexion", "constitutional", "self_rag",
        "evidence", "self_consistency", "meta_rewarding", "n_critics",
    }  # fmt: skip
    for kind, critic in CRITICS.items():
        assert (critic.__doc__ or "").strip(), kind


@pytest.mark.parametrize("kind", CRITICS)
def test_a_spec_is_built_again_from_its_dump(kind: str) -> None:
    (critic,) = parse_critics([{"type": kind, **NEEDED.get(kind, {})}])
    assert isinstance(critic, CRITICS[kind])
    dumped = critic.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    assert parse_critics([{"type": kind, **dumped}]) == (critic,)


SETTINGS: list[dict[str, Any]] = [
    {"type": "constitutional", "mode": "sequential", "draw": 2},
    {
        "type": "constitutional",
        "principles": [{"name": "a", "critique": "look", "revision": "mend"}],
    },
    {"type": "self_rag", "max_claims": 2, "max_passages": 1},
    {"type": "self_consistency", "n": 5, "temperature": 1.0},
    {"type": "meta_rewarding", "n": 2},
    {"type": "n_critics", "roles": ["a sailor", "a cook"], "models": ["a:b", "c:d", "e:f"]},
]


@pytest.mark.parametrize("spec", SETTINGS, ids=lambda spec: spec["type"])
def test_options_survive(spec: dict[str, Any]) -> None:
    (critic,) = parse_critics([spec])
    assert isinstance(critic, CRITICS[spec["type"]])
    dumped = critic.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    assert dumped.items() >= {k: v for k, v in spec.items() if k != "type"}.items()
    assert parse_critics([{"type": spec["type"], **dumped}]) == (critic,)


ONE = {"name": "a", "critique": "look", "revision": "mend"}
WRONG: list[tuple[dict[str, Any] | str, str]] = [
    ("oracle", "critics[0]: unknown critic 'oracle'"),
    ({"type": "self_refine", "mood": 1}, "critics[0].mood: is not a known option"),
    ({"type": "self_consistency", "n": 1}, "critics[0].n: should be at least 2, not 1"),
    ({"type": "self_consistency", "n": 17}, "critics[0].n: should be at most 16, not 17"),
    ({"type": "self_consistency", "temperature": 0}, "critics[0].temperature: "),
    ({"type": "meta_rewarding", "n": 7}, "critics[0].n: should be at most 6, not 7"),
    ({"type": "n_critics", "roles": ["me"]}, "critics[0].roles: should be at least 2 items long"),
    ({"type": "n_critics", "models": ["a:b"]}, "critics[0].models: should be at least 2 items"),
    ({"type": "self_rag", "max_claims": 0}, "critics[0].max_claims: should be at least 1"),
    ({"type": "prompt"}, "critics[0].rubric: is missing"),
    ({"type": "constitutional", "principles": []}, "there is no principle in it"),
    ({"type": "constitutional", "principles": [ONE, ONE]}, "principle 'a' is there twice"),
    ({"type": "constitutional", "principles": [ONE] * 51}, "51 principles, at most 50"),
    (
        {"type": "constitutional", "principles": [{**ONE, "revision": " "}]},
        "critics[0].principles[0].revision: should be at least 1 characters long",
    ),
    ({"type": "constitutional", "draw": 7}, "draw: 7 of 6 principles"),
    ({"type": "constitutional", "file": "a.md", "principles": [ONE]}, "not both"),
    ({"type": "constitutional", "version": "0" * 12}, "is not that of the principles"),
    ({"type": "self_refine", "model": 5}, "critics[0].model: should be a model's name"),
    ({"type": "self_refine", "model": True}, "or a PydanticAI model, not bool"),
    ({"type": "self_refine", "model": {}}, "or a PydanticAI model, not dict"),
    ({"type": "self_refine", "model": " "}, "or a PydanticAI model, not an empty string"),
    ({"type": "self_refine", "model": object()}, "or a PydanticAI model, not object"),
    ({"type": "n_critics", "models": [1, 2]}, "critics[0].models[0]: should be a model's name"),
    ({"type": "n_critics", "models": ["a:b", None]}, "critics[0].models[1]: should be a model's"),
    ({"type": "self_rag", "retriever": "x"}, "critics[0].retriever: should be an object with a"),
    ({"type": "lint", "name": ""}, "critics[0].name: should be a printable name of 1 to 80"),
    ({"type": "self_refine", "name": "x" * 81}, "critics[0].name: should be a printable name"),
    ({"type": "n_critics", "name": "a\nb"}, "critics[0].name: should be a printable name"),
]


@pytest.mark.parametrize(("spec", "told"), WRONG)
def test_a_wrong_spec_is_one_clear_line(spec: dict[str, Any] | str, told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_critics([spec])
    assert told in error.value.message
    assert error.value.message.startswith("critics[0]")
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["!!bool x", "!!timestamp x", "!!int x", "2020-99-99", "[" * 5000])
def test_a_constitution_on_which_the_parser_stumbles_is_one_clear_line(
    name: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"- {{name: {name}, critique: look, revision: mend}}")
    with pytest.raises(ConfigurationError, match="not valid YAML"):
        parse_critics([{"type": "constitutional", "file": str(file)}])


def test_a_reader_of_files_can_refuse_them(tmp_path: Path) -> None:
    def refuse(path: str) -> str:
        raise ConfigurationError(f"{path}: files are not read here")

    file = tmp_path / "own.yaml"
    file.write_text("- {name: a, critique: look, revision: mend}")
    spec = {"type": "constitutional", "file": str(file)}
    assert len(parse_critics([spec])) == 1
    with pytest.raises(ConfigurationError, match="files are not read here"):
        parse_critics([spec], read_file=refuse)


def test_the_judge_is_asked_by_critics_that_name_no_model() -> None:
    asked, own = ScriptedJudge("judge").model, ScriptedJudge("own").model
    judge = Binding(model=asked)
    assert SelfRefineCritic().bind(judge).models == (asked,)
    assert SelfRefineCritic(model=own).bind(judge).models == (own,)
    assert NCriticsCritic().bind(judge).models == (asked,)
    both = NCriticsCritic(models=(own, own)).bind(judge)
    assert both.models == (own, own)
    assert LintCritic().bind(judge).models == ()


def test_only_a_critic_without_any_model_needs_the_judge() -> None:
    own = ScriptedJudge("own").model
    with pytest.raises(ConfigurationError, match="critic 'self_refine' needs a model"):
        SelfRefineCritic().bind(Binding())
    assert NCriticsCritic(models=(own, own)).bind(Binding()).models == (own, own)
    with pytest.raises(ConfigurationError, match="nobody:model"):
        NCriticsCritic(models=(own, "nobody:model")).bind(Binding())


def test_critics_without_a_model_take_no_call() -> None:
    assert (LintCritic().metered, LintCritic().calls()) == (False, 0)
    assert (SelfRefineCritic().metered, SelfRefineCritic().calls()) == (True, 1)


def test_objects_are_no_part_of_the_data() -> None:
    own = ScriptedJudge("own", name="own").model
    critic = NCriticsCritic(models=("openai:gpt-5", own))
    assert critic.model_dump(mode="json")["models"][0] == "openai:gpt-5"
    assert critic.model_dump(mode="json")["models"][1].startswith("object:")
    retriever = MockRetriever(documents=())
    assert "retriever" not in SelfRAGCritic(retriever=retriever).model_dump()


@pytest.mark.anyio
async def test_a_critic_without_a_model_says_that_it_needs_one() -> None:
    with pytest.raises(ConfigurationError, match="needs a model"):
        await SelfRefineCritic().critique(Thought(text="A text."))
