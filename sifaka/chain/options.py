"""The options of a chain, as programs give them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict

from sifaka.calls.breakers import Breakers
from sifaka.calls.host import Host
from sifaka.calls.monitoring import Monitor
from sifaka.chain.pairwise_judge import Judge
from sifaka.chain.presets import Effort
from sifaka.critics import CriticSpec
from sifaka.evidence.sources.collection import Adapters
from sifaka.models import Model
from sifaka.models.provider import Connections
from sifaka.plugins import Plugins
from sifaka.record.entries import Facts, Fixes, Policy
from sifaka.record.research_question import Inquiry
from sifaka.record.usage import Budget
from sifaka.research.protocol import Researcher
from sifaka.retrievers.protocol import Retriever
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators import ValidatorLike

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model as ProviderModel


class TaskOptions(TypedDict, total=False):
    """The options of a chain that every task takes. All may be left out."""

    retrievers: Iterable[Retriever]
    """The sources of documents for the writer and the critics."""
    effort: Effort
    """The effort, where the options below do not say; see `sifaka.chain.presets`."""
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
    """From how many similar past runs of the store the writer is told the lessons."""
    deps: Any
    """The dependencies of a PydanticAI agent's tools."""
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
