"""Critics as data, as objects of other code, and as plain functions."""

from pathlib import Path
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from sifaka import Chain
from sifaka.calls.component import Binding
from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.critics import (
    CRITICS,
    FunctionCritic,
    LintCritic,
    NCriticsCritic,
    SelfRAGCritic,
    SelfRefineCritic,
    as_critic,
    parse_critics,
)
from sifaka.critics.execution import run_critics
from sifaka.errors import ConfigurationError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget, Usage
from sifaka.retrievers.mock import MockRetriever
from tests.sifaka.critics.scripted_judge import ScriptedJudge

pytestmark = pytest.mark.anyio

NEEDED: dict[str, dict[str, Any]] = {"prompt": {"rubric": "Is it short?"}}


def test_the_catalogue_holds_every_technique() -> None:
    assert set(CRITICS) == {
        "lint", "style", "self_refine", "prompt", "reflexion", "constitutional", "self_rag",
        "evidence", "self_consistency", "meta_rewarding", "n_critics",
    }  # fmt: skip
    for kind, critic in CRITICS.items():
        assert (critic.__doc__ or "").strip(), kind


SETTINGS: list[dict[str, Any]] = [
    {"type": "constitutional", "draw": 2},
    {
        "type": "constitutional",
        "principles": [{"name": "a", "critique": "look", "revision": "mend"}],
    },
    {"type": "self_rag", "max_claims": 2, "max_passages": 1},
    {"type": "self_consistency", "n": 5, "temperature": 1.0},
    {"type": "meta_rewarding", "n": 2},
    {"type": "n_critics", "roles": ["a sailor", "a cook"], "models": ["a:b", "c:d", "e:f"]},
]


LEAST = [{"type": kind, **NEEDED.get(kind, {})} for kind in CRITICS]


@pytest.mark.parametrize("spec", [*LEAST, *SETTINGS], ids=lambda spec: spec["type"])
def test_a_spec_is_built_again_from_its_dump_with_its_options(spec: dict[str, Any]) -> None:
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


def test_objects_are_no_part_of_the_data() -> None:
    own = ScriptedJudge("own", name="own").model
    critic = NCriticsCritic(models=("openai:gpt-5", own))
    assert critic.model_dump(mode="json")["models"][0] == "openai:gpt-5"
    assert critic.model_dump(mode="json")["models"][1].startswith("object:")
    retriever = MockRetriever(documents=())
    assert "retriever" not in SelfRAGCritic(retriever=retriever).model_dump()


async def test_a_critic_without_a_model_says_that_it_needs_one() -> None:
    with pytest.raises(ConfigurationError, match="needs a model"):
        await SelfRefineCritic().critique(Thought(text="A text."))


def mentions_harbor(text: str) -> bool:
    return "Harbor" in text


def remarks(text: str) -> list[str]:
    return [f"do not say {word!r}" for word in ("simply", "just") if word in text]


async def later(text: str) -> str:
    await checkpoint()
    return "" if "Harbor" in text else "name the product"


async def heard(critic: Any, text: str) -> CriticFeedback:
    (feedback,) = await run_critics(
        parse_critics([critic]), Thought(text=text), Calls(ledger=Ledger(Budget(), Usage()))
    )
    return feedback


@pytest.mark.parametrize(
    ("function", "text", "messages"),
    [
        (mentions_harbor, "Harbor", []),
        (mentions_harbor, "It", ["mentions_harbor does not hold"]),
        (remarks, "It works", []),
        (remarks, "It simply just works", ["do not say 'simply'", "do not say 'just'"]),
        (later, "Harbor", []),
        (later, "It", ["name the product"]),
    ],
)
async def test_a_function_accepts_or_says_what_to_change(
    function: Any, text: str, messages: list[str]
) -> None:
    feedback = await heard(function, text)
    assert feedback.verdict == ("revise" if messages else "accept")
    assert [issue.message for issue in feedback.issues] == messages
    assert feedback.critic == function.__name__


async def test_feedback_of_a_function_is_kept_as_it_is() -> None:
    given = CriticFeedback(verdict="revise", suggestions=("cut it",))
    feedback = await heard(FunctionCritic(lambda _: given, name="mine"), "It")
    assert (feedback.critic, feedback.suggestions) == ("mine", ("cut it",))


@pytest.mark.parametrize("function", [len, str.encode])
async def test_what_a_function_must_not_return_is_an_abstention_that_says_so(function: Any) -> None:
    feedback = await heard(function, "It")
    assert feedback.status == "abstained"
    assert "returned" in (feedback.reason or "")
    assert "return True, False" in (feedback.reason or "")


def test_a_single_critic_needs_no_list() -> None:
    for given in ("lint", {"type": "lint"}, LintCritic()):
        assert parse_critics(given) == (LintCritic(),)
    (function,) = parse_critics(mentions_harbor)
    assert function.name == "mentions_harbor"
    assert [c.name for c in Chain(critics="self_refine").resources.critics] == ["self_refine"]


@pytest.mark.parametrize("given", [LintCritic, object()])
def test_what_is_no_critic_is_told_with_what_is(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"critics\[0\]: .* is not a critic"):
        parse_critics([given])


def test_a_wrapper_speaks_for_the_critic_inside_it() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    inside = SelfRefineCritic().bind(judge.binding)
    assert as_critic(inside) is inside

    class Named:
        name = "named"

        async def critique(self, thought: Thought) -> CriticFeedback:
            return CriticFeedback(verdict="accept")

    foreign = as_critic(Named())
    assert (foreign.models, foreign.calls()) == ((), 0)
    assert foreign.claim_checks == ()
    assert foreign.bind(Binding()) is foreign
    assert foreign.spec() == {
        "type": "object",
        "class": f"{__name__}.{Named.__qualname__}",
        "name": "named",
    }


async def test_a_run_is_improved_by_functions_alone() -> None:
    chain = Chain(model="caller", validators=[mentions_harbor], critics=remarks)
    result = await chain.run(text="Harbor simply works.")
    assert result.status == "needs_revision"
    told = await chain.submit(result.run_id, result.thought.id, "Harbor works.")
    assert told.accepted
    assert told.run.passed
