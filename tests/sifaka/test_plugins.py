"""Components of packages that are installed: here two, in a folder on the path."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sifaka.chain import Chain
from sifaka.critics import CRITICS, parse_critics
from sifaka.errors import ConfigurationError, PluginError
from sifaka.plugins import Plugins
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage, open_store
from sifaka.testing import ScriptedModel
from sifaka.validators import VALIDATORS, parse_validators
from tests.sifaka.critics.scripted_judge import ScriptedJudge

pytestmark = pytest.mark.anyio

PACKAGES = Path(__file__).parent.parent / "plugin_package"
ACME = Plugins(["acme-critics"])


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [str(PACKAGES), *sys.path])
    yield
    for name in ("acme_critics", "acme_broken"):
        sys.modules.pop(name, None)


def loaded() -> set[str]:
    return {name for name in sys.modules if name.startswith("acme")}


@pytest.mark.parametrize("allowed", [(), ("other-package",)])
def test_nothing_is_imported_of_a_package_that_is_not_allowed(allowed: tuple[str, ...]) -> None:
    plugins = Plugins(allowed)
    with pytest.raises(PluginError) as error:
        parse_critics(["acme_tone"], plugins=plugins)
    assert "'Acme_Critics', which is not allowed" in error.value.message
    assert "SIFAKA_PLUGINS=Acme_Critics" in (error.value.suggestion or "")
    with pytest.raises(PluginError):
        parse_validators([{"type": "acme_lines", "most": 1}], plugins=plugins)
    with pytest.raises(PluginError):
        open_store("acme:x", home=Path(), plugins=plugins)
    assert loaded() == set()


def test_nothing_is_imported_before_it_is_named() -> None:
    plugins = Plugins(["acme-critics", "acme-broken"])
    assert set(plugins.offered("critics", CRITICS)) == {
        "acme_broken",
        "acme_gone",
        "acme_judge",
        "acme_nothing",
        "acme_seven",
        "acme_tone",
    }
    parse_critics(["lint", "self_refine"], plugins=plugins)
    parse_validators([{"type": "length", "max_words": 5}], plugins=plugins)
    open_store("memory:", home=Path(), plugins=plugins)
    assert loaded() == set()
    parse_critics(["acme_tone"], plugins=plugins)
    assert loaded() == {"acme_critics"}


@pytest.mark.parametrize("name", ["acme-critics", "Acme.Critics", "ACME_CRITICS"])
def test_a_package_is_allowed_however_its_name_is_spelled(name: str) -> None:
    (critic,) = parse_critics(["acme_tone"], plugins=Plugins([name]))
    assert critic.name == "tone"


async def test_a_critic_is_made_of_its_options_and_asked() -> None:
    (critic,) = parse_critics([{"type": "acme_tone", "wanted": "brief"}], plugins=ACME)
    feedback = await critic.critique(Thought(text="long"))
    assert (feedback.verdict, feedback.suggestions) == ("revise", ("be more brief",))


async def test_validators_are_pydantic_models_or_made_by_functions() -> None:
    lines, ends = parse_validators(
        [
            {"type": "acme_lines", "most": 1, "required": False, "name": "short"},
            {"type": "acme_ends", "words": "."},
        ],
        plugins=ACME,
    )
    assert (lines.name, lines.required, ends.name, ends.required) == (
        "short",
        False,
        "acme_ends",
        True,
    )
    chain = Chain(model="editor", critics=[], validators=[lines, ends])
    result = await chain.run(text="One.\nTwo.")
    told = {r.validator: (r.passed, r.required) for r in result.validation_results}
    assert told == {"short": (False, False), "acme_ends": (True, True)}


WRONG_OPTIONS = [
    ({"type": "acme_lines", "most": 0}, "validators[0].most: should be at least 1"),
    ({"type": "acme_lines"}, "validators[0].most: is missing"),
    ({"type": "acme_ends", "wards": "."}, "validators[0]: "),
    ({"type": "acme_ends", "words": object()}, "plain data"),
]


@pytest.mark.parametrize(("spec", "told"), WRONG_OPTIONS)
def test_wrong_options_are_the_callers_mistake(spec: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_validators([spec], plugins=ACME)
    assert told in error.value.message


BROKEN = [
    ("acme_broken", "'acme_broken' of the package 'acme-broken' could not be imported: Runtime"),
    ("acme_gone", "could not be imported: AttributeError"),
    ("acme_seven", "is a int, not a class or a function"),
    ("acme_nothing", "made a object, which has no method `critique`"),
]


@pytest.mark.parametrize(("name", "told"), BROKEN)
def test_what_cannot_be_used_is_told_in_one_line_of_ours(name: str, told: str) -> None:
    plugins = Plugins(["acme-critics", "acme-broken"])
    with pytest.raises(PluginError) as error:
        parse_critics([name], plugins=plugins)
    assert told in error.value.message
    assert error.value.suggestion
    assert "private" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bug_while_a_component_is_made_is_not_quoted() -> None:
    with pytest.raises(PluginError, match="could not be made: ZeroDivisionError") as error:
        parse_critics([{"type": "acme_tone", "wanted": "bug"}], plugins=ACME)
    assert "private" not in str(error.value)


def test_what_is_built_in_wins_over_a_plugin_of_its_name() -> None:
    plugins = Plugins(["acme-critics"])
    critic, _ = parse_critics(["lint", "lint"], plugins=plugins)
    (validator,) = parse_validators([{"type": "length", "max_words": 5}], plugins=plugins)
    store = open_store("memory:", home=Path(), plugins=plugins)
    assert type(critic) is CRITICS["lint"]
    assert type(validator) is VALIDATORS["length"]
    assert isinstance(store, MemoryStorage)
    assert loaded() == set()


def test_an_unknown_name_is_told_with_what_plugins_offer() -> None:
    with pytest.raises(ConfigurationError) as error:
        parse_critics(["acme_tune"], plugins=ACME)
    assert "acme_tone" in (error.value.suggestion or "")
    with pytest.raises(ConfigurationError) as error:
        parse_validators([{"type": "acme_line"}], plugins=ACME)
    assert "acme_lines" in (error.value.suggestion or "")
    with pytest.raises(ConfigurationError) as error:
        open_store("acmee:", home=Path(), plugins=ACME)
    assert "acme:" in (error.value.suggestion or "")


async def test_a_run_records_plugins_as_data_and_is_resumed_where_they_are_allowed() -> None:
    store = MemoryStorage()
    chain = Chain(
        model="editor",
        validators=[{"type": "acme_lines", "most": 3}],
        critics=[{"type": "acme_tone", "wanted": "fine"}],
        store=store,
        plugins=ACME,
    )
    run = (await chain.start(text="All is fine.")).run
    config = type(run.config).model_validate_json(run.config.model_dump_json())
    assert json.loads(config.model_dump_json())["critics"] == [
        {"type": "acme_tone", "wanted": "fine"}
    ]
    again = Chain.of_config(config, store=store, plugins=Plugins(["acme-critics"]))
    result = await again.resume(run.run_id)
    assert (result.status, result.text) == ("done", "All is fine.")
    assert result.thought.critic_feedback[0].critic == "tone"
    assert (await again.replay(run.run_id)).exact
    with pytest.raises(PluginError, match="not allowed"):
        Chain.of_config(config, store=store)


async def test_a_critic_that_asks_a_model_asks_the_chains() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    chain = Chain(
        model=ScriptedModel(lines=["Better."]),
        judge_model=judge.model,
        critics=["acme_judge"],
        plugins=ACME,
    )
    result = await chain.run(text="Good.")
    assert result.status == "done"
    assert result.run.usage.model_calls == judge.calls == 1
    assert "Is it polite?" in judge.asked[0].instructions


async def test_an_error_of_a_plugin_is_on_record_without_its_secrets() -> None:
    chain = Chain(model="editor", critics=["lint", "acme_tone"], plugins=ACME)
    result = await chain.run(text="This will fail.")
    recorded = result.run.model_dump_json()
    assert "***@acme.example has refused sk-***" in recorded
    assert "acme123456" not in recorded
    assert "hunter22" not in recorded


async def test_a_store_is_opened_by_its_scheme() -> None:
    store = open_store("acme:somewhere", home=Path(), tenant="t", plugins=ACME)
    assert isinstance(store, MemoryStorage)
    assert (await store.recent(limit=1)).runs == ()


@pytest.mark.parametrize(
    ("url", "told"),
    [("acmebad:x", "which has no place, degraded, append"), ("acme:fail", "RuntimeError")],
)
def test_a_store_that_is_none_is_told(url: str, told: str) -> None:
    with pytest.raises(PluginError) as error:
        open_store(url, home=Path(), plugins=ACME)
    assert told in error.value.message
    assert "private" not in str(error.value)
