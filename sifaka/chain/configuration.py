"""The configuration of a chain: the options a program gives, and the data and resources of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.naming import did_you_mean
from sifaka._internal.renamed import instead_of
from sifaka.calls.breakers import Breakers
from sifaka.calls.component import Component, code_spec, models_of
from sifaka.calls.context import Calls, Journal, new_frame_key
from sifaka.calls.host import Host
from sifaka.calls.ledger import Ledger
from sifaka.calls.monitoring import Monitor
from sifaka.chain.lessons import MOST_REMEMBERED
from sifaka.chain.version_comparison import Judge
from sifaka.critics import (
    CriticComponent,
    CriticSpec,
    LintCritic,
    SelfRefineCritic,
    parse_critics,
)
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import NONE, Adapters
from sifaka.models import AUTO, CALLER, Model
from sifaka.models.provider import Connections
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.record.entries import ChainConfig, Facts, Fixes, Policy, Started
from sifaka.record.research_question import Inquiry
from sifaka.record.rule_choice import RuleChoice
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Budget, Usage
from sifaka.research.protocol import Researcher
from sifaka.retrievers.protocol import Retriever
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators import ValidatorLike, parse_validators
from sifaka.validators.execution import ValidatorComponent

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model as ProviderModel

Effort = Literal["quick", "standard", "thorough"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The settings of an effort; explicit ones win.

    With C calls of critics for a version, K rounds cost at most `C + K * width * (1 + C)` model
    calls. The look back at the end adds 1 or 2.
    """

    max_iterations: int
    """Versions of the caller after the first that may be taken."""
    rounds: int
    """Rounds in which a provider's model may write after the first version."""
    policy: Policy = "best"
    """The policy where there is a model to ask; without one it is `best`."""
    width: int = 1
    """Versions written at a time, with that policy."""
    look_back: int = 0
    """See `ChainConfig.look_back`."""
    own_review: bool = False
    """See `ChainConfig.own_review`."""


PRESETS: Mapping[Effort, Preset] = MappingProxyType(
    {
        "quick": Preset(max_iterations=1, rounds=1),
        "standard": Preset(max_iterations=3, rounds=2, look_back=1, own_review=True),
        "thorough": Preset(
            max_iterations=5,
            rounds=3,
            policy="best_of_n",
            width=3,
            look_back=2,
            own_review=True,
        ),
    }
)


class TaskOptions(TypedDict, total=False):
    """The options of a chain that every task takes. All may be left out."""

    retrievers: Iterable[Retriever]
    """The sources of documents for the writer and the critics."""
    effort: Effort
    """The effort, where the options below do not say; see `sifaka.chain.configuration`."""
    max_iterations: int | None
    """The most rounds in which a model or the caller writes after the first version."""
    policy: Policy | None
    """`best` keeps the best version so far by what validators and critics say, `judged` asks a
    judge to compare versions pairwise, `best_of_n` writes several versions at a time and keeps the
    best, `last` keeps the last."""
    width: int | None
    """Versions written at a time with `best_of_n` or `judged`; when None 3 and 1."""
    look_back: int | None
    """The comparisons of the best version with the input at the end, each in both orders, which
    must all prefer it. Where it is 1, a review that has compared them counts for one of the two
    orders; 0 asks nobody; by the effort when None."""
    max_edit_ratio: float | None
    """The largest share of the original's words that may be changed."""
    protect: bool
    """True when code, numbers, quotes, links and names must survive where there is no task."""
    patience: int | None
    """Rounds in a row that lose by opinion after which a model is not asked again; 1 when left
    out."""
    critic_deadline: float | None
    """Seconds after which a critic that has not answered abstains."""
    budget: Budget | None
    """The budget of a run."""
    judge_model: "str | ProviderModel[Any] | Judge | None"
    """Asked by critics that name no model, and to compare versions: a name, a PydanticAI model, or
    any `Judge`. The writer's model when None."""
    fallback_models: "Iterable[str | ProviderModel[Any]]"
    """Asked in this order when the model has failed for good; `host` may be among them, and
    `caller` the last."""
    host: Host | None
    """Asks the model of the program that called, for `host`."""
    store: ThoughtStore | None
    """The store of the runs; in memory when None."""
    checkpoint_storage: ThoughtStore | None
    """Another name for `store`: every entry of a run is a checkpoint."""
    tags: Iterable[str]
    """Words to find its runs by."""
    remember: int
    """From how many similar past runs of the store the writer is given the lessons."""
    deps: Any
    """The dependencies of a PydanticAI agent's tools."""
    message_history: "Sequence[ModelMessage]"
    """The conversation before the task, for a PydanticAI agent."""
    breakers: Breakers | None
    """The circuit breakers of the providers, to share them among chains."""
    monitor: Monitor | None
    """The monitor that measures the time, to share it among chains."""
    plugins: Plugins | None
    """The packages that offer further critics and validators; none when None."""
    adapters: Adapters | None
    """The adapters that search for evidence; none when None."""
    researcher: Researcher | None
    """Researches it instead of the graphs of `sifaka.research`; no part of the configuration on
    record."""
    section_chars: int | None
    """Characters beyond which models write and judge a text section by section, at least 2,000;
    never when None."""
    format: str | None
    """The format of the text, a `sifaka.text.formats.Format` by name; recognised by its look when
    None."""
    fixes: Fixes
    """The fixes that the editor makes in the input, before the first call of a model, and in every
    version of a model before it is judged: `safe` ones, `suggested` ones too, or `none`. `auto`
    makes the safe ones where there is no task."""
    lint_rules: RuleChoice | None
    """The editor's rules that are wanted, and the words that are right; see
    `sifaka.editor.rule_choice`."""
    facts: Facts
    """What becomes of figures, names and the like that a version changes against its task: `ask`
    takes it once they are answered, `require` never, `off` does not compare."""
    own_review: bool | None
    """True when the calling agent reads its first version once more, by a sheet; by `effort` when
    None."""
    connections: Connections | None
    """Keeps the providers' clients open from run to run; otherwise each run opens and closes its
    own."""


class CommonOptions(TaskOptions, total=False):
    """The options besides the writer, the validators and the critics. All may be left out."""

    prompt: str
    """The task, for runs that are given none."""
    inquiry: Inquiry | None
    """The kind of research that the first version comes from, with the prompt as the question; when
    None it is given, or written from the task."""


class ChainOptions(CommonOptions, total=False):
    """Every option of a chain. All may be left out."""

    model: "str | Model | ProviderModel[Any] | Agent[Any, Any]"
    """The writer. `auto` (the editor, then the calling agent), `editor`, `caller`, `host`,
    `provider:name`, a PydanticAI agent or model, or any `Model`."""
    validators: Iterable[ValidatorLike]
    """Validators that a text must pass: objects, specs, or functions."""
    critics: CriticSpec | Iterable[CriticSpec] | None
    """Critics, names, specs or functions, or a single one. None takes `self_refine` with a model
    and `lint` without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The components of a chain, which its configuration names, and what they work with.

    See `sifaka.chain.configuration` for each.
    """

    model: Any = AUTO
    judge_model: Any = None
    fallback_models: tuple[Any, ...] = ()
    validators: tuple[ValidatorComponent, ...] = ()
    critics: tuple[CriticComponent, ...] = ()
    """Those that suit the model where none were given."""
    retrievers: tuple[Retriever, ...] = ()
    store: ThoughtStore = field(default_factory=MemoryStorage)
    breakers: Breakers = field(default_factory=Breakers)
    monitor: Monitor = field(default_factory=Monitor)
    connections: Connections | None = None
    host: Host | None = None
    plugins: Plugins = NO_PLUGINS
    adapters: Adapters = NONE
    researcher: Researcher | None = None
    deps: Any = None
    message_history: "Sequence[ModelMessage]" = ()

    def calls(
        self, budget: Budget, frame_key: str | None = None, journal: Journal | None = None
    ) -> Calls:
        """The surroundings of model calls outside a run.

        Args:
            budget: Theirs alone.
            frame_key: A secret of the caller, which the marks around quoted material in prompts are
                made with: the same one makes the same questions. A new one when None.
            journal: The answers that are there already; none when None.
        """
        return Calls(
            ledger=Ledger(budget, Usage()),
            journal=journal or Journal(),
            breakers=self.breakers,
            monitor=self.monitor,
            frame_key=frame_key or new_frame_key(),
        )


_WIDTH = 3
"""Versions at a time with the policy `best_of_n`."""
_NO_LIMIT = Budget()
_OBJECT = "object:"
"""The prefix of the recorded name of a model that was an object; see `model_name`."""
_NAMES = tuple(sorted(ChainOptions.__annotations__))
_RESOURCES = tuple(field.name for field in fields(Resources))
_USUAL_WHEN_NONE = frozenset(
    {"budget", "policy", "width", "look_back", "max_iterations", "own_review"}
)
"""Options that are as if they were left out when they are None; for the others it is a value."""


def model_name(model: object) -> str:
    """The name of a model in a run's recorded configuration.

    A string stands for itself. An object cannot be built again from a record, so its name is one
    that no string can be mistaken for.
    """
    if isinstance(model, str):
        return model
    name = getattr(model, "name", None) or getattr(model, "model_id", None)
    return f"{_OBJECT}{name or type(model).__name__}"


def asks_a_provider(model: object) -> bool:
    """True when this choice of a model is one that answers by itself."""
    return not isinstance(model, str) or model not in {AUTO, EDITOR, CALLER}


def parsed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a chain with their components parsed, and with lists that nobody changes.

    Raises:
        ConfigurationError: An option is unknown, or a component is wrong.
        PluginError: A component of another package is not allowed, or cannot be used.
    """
    for name in options:
        if name not in _NAMES:
            hint = instead_of("Chain", name) or did_you_mean(name, _NAMES)
            raise ConfigurationError(f"unknown option {name!r}", hint, parameter=name)
    new = dict(options)
    if (checkpoints := new.pop("checkpoint_storage", None)) is not None:
        new["store"] = checkpoints
    plugins = {} if new.get("plugins") is None else {"plugins": new["plugins"]}
    if "validators" in new:
        new["validators"] = parse_validators(new["validators"], **plugins)
    if new.get("critics") is not None:
        new["critics"] = parse_critics(new["critics"], **plugins)
    if "tags" in new:
        new["tags"] = dict.fromkeys(new["tags"])
    new |= {
        name: tuple(new[name]) for name in {"retrievers", "fallback_models", "tags"} & new.keys()
    }
    for each in new.get("retrievers", ()):
        if not isinstance(each, Retriever):
            raise ConfigurationError(
                f"{each!r} is no retriever",
                "give an object with `retrieve`, such as InMemoryRetriever(texts)",
            )
    return new


def resources_of(options: Mapping[str, Any]) -> Resources:
    """The resources among the options of a chain, with critics that suit its model."""
    held: dict[str, Any] = {
        name: options[name] for name in _RESOURCES if options.get(name) is not None
    }
    model = held.get("model", AUTO)
    only_writes = isinstance(model, Model) and not models_of(model)
    usual: tuple[CriticComponent, ...] = ()
    if asks_a_provider(model) and ("judge_model" in held or not only_writes):
        usual = (SelfRefineCritic(),)
    elif options.get("inquiry") is None:
        # What a report quotes was written by others: its spelling is theirs.
        usual = (LintCritic(),)
    held.setdefault("critics", usual)
    return Resources(**held)


def config_of(options: Mapping[str, Any], resources: Resources) -> ChainConfig:
    """The configuration that a run's record keeps: data, with the meaning of the effort.

    Raises:
        ConfigurationError: An option is wrong, or two do not go together.
    """
    data = {"fixes": "auto", "facts": "ask"} | _apply_effort(options, resources)
    judge = resources.judge_model
    data |= {
        "model": model_name(resources.model),
        "judge_model": None if judge is None else model_name(judge),
        "fallback_models": tuple(map(model_name, resources.fallback_models)),
        "validators": tuple(validator.spec() for validator in resources.validators),
        "critics": tuple(critic.spec() for critic in resources.critics),
        "retrievers": tuple(
            each.spec() if isinstance(each, Component) else code_spec(each)
            for each in resources.retrievers
        ),
    }
    try:
        config = ChainConfig.model_validate(data)
        Started(config=config, tags=options.get("tags", ()))
    except ValidationError as error:
        raise ConfigurationError(explain(error)) from error
    remember = options.get("remember", 0)
    if not 0 <= remember <= MOST_REMEMBERED:
        raise ConfigurationError(
            f"remember={remember} is not possible", f"learn from 0 to {MOST_REMEMBERED} past runs"
        )
    if CALLER in config.fallback_models[:-1]:
        raise ConfigurationError(
            "`caller` stands in for every model that fails", "name it last in fallback_models"
        )
    if config.format is not None:
        from sifaka.text.formats import Format

        formats = [each.value for each in Format if each is not Format.SOURCE]
        if config.format not in formats:
            raise ConfigurationError(
                f"unknown format {config.format!r}", did_you_mean(config.format, formats)
            )
    if config.lint_rules is not None:
        from sifaka.editor import rule_choice

        rule_choice(config.lint_rules.select, config.lint_rules.ignore)
    if config.model == EDITOR and config.fixes == "none":
        raise ConfigurationError(
            "`fixes` is `none`, and the editor makes fixes alone", "leave fixes out"
        )
    if config.width > 1 and config.policy not in {"best_of_n", "judged"}:
        raise ConfigurationError(
            f"width={config.width} has no effect with the policy `{config.policy}`",
            "use policy=`best_of_n` or `judged`, or leave width out",
        )
    if resources.researcher is not None and config.inquiry is None:
        raise ConfigurationError(
            "there is a researcher and nothing to research", "say how with inquiry=Inquiry(...)"
        )
    return config


def _apply_effort(options: Mapping[str, Any], resources: Resources) -> dict[str, Any]:
    """The settings, with what the effort means for this model where they leave it out."""
    effort = options.get("effort", "standard")
    if effort not in tuple(PRESETS):
        raise ConfigurationError(f"unknown effort {effort!r}", did_you_mean(str(effort), PRESETS))
    preset = PRESETS[effort]
    chosen = {
        name: value
        for name, value in options.items()
        if name in ChainConfig.model_fields and (value is not None or name not in _USUAL_WHEN_NONE)
    }
    # A `Model` only writes; a provider's can be asked other questions too.
    writer = asks_a_provider(resources.model) and not isinstance(resources.model, Model)
    has_judge = writer or resources.judge_model is not None
    policy = chosen.get("policy", preset.policy if has_judge else "best")
    width = _WIDTH if policy == "best_of_n" else 1
    look_back = chosen.get("look_back")
    if look_back is None and has_judge:
        look_back = 0 if policy == "last" else preset.look_back
    if not has_judge and (policy == "judged" or look_back):
        needs, instead = "the look back", "leave look_back out"
        if policy == "judged":
            needs, instead = "the policy `judged`", "use the policy `best`"
        raise ConfigurationError(
            f"{needs} needs a model that compares versions",
            f"configure one (judge_model, or model=provider:name), or {instead}",
        )
    return {
        "policy": policy,
        "width": preset.width if "policy" not in chosen and has_judge else width,
        "max_iterations": preset.rounds if writer else preset.max_iterations,
        "own_review": preset.own_review,
        "budget": _NO_LIMIT,
        **chosen,
        "look_back": look_back,
    }


def options_of(config: ChainConfig) -> ChainOptions:
    """The options of a chain that has this configuration.

    Raises:
        ConfigurationError: It names a component that is code, not data; only the program that has
            that code can go on with the run.
    """
    components = (*config.validators, *config.critics, *config.retrievers)
    models = (config.model, config.judge_model or "", *config.fallback_models)
    held = any(component["type"] == "object" for component in components)
    if held or any(model.startswith(_OBJECT) for model in models):
        raise ConfigurationError(
            "the run was started with components that are not plain data",
            "resume it from the program that started it",
        )
    return cast("ChainOptions", {name: getattr(config, name) for name in ChainConfig.model_fields})
