"""Going through a finished run again, from its record alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint

from sifaka._internal.immutable import Frozen
from sifaka._internal.lazy import load_pydantic_ai
from sifaka._internal.naming import unique
from sifaka.calls.component import Binding, Component
from sifaka.calls.context import ANY_QUESTION, current_calls
from sifaka.chain.configuration import Resources
from sifaka.chain.handle import RunHandle
from sifaka.chain.parts import Parts, Writer, bind_parts
from sifaka.chain.recovery import first_place
from sifaka.critics import CriticComponent, EditorCritic
from sifaka.errors import ConfigurationError, ModelProviderError, SifakaError
from sifaka.models import AUTO, CALLER, Generation
from sifaka.models.prompt import PROMPTS_VERSION
from sifaka.models.provider import provider_model
from sifaka.models.writing import REFUSED, UnfitDraft
from sifaka.record.entries import FORM, Decided, Drafted, Entry, Started, Stopped
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.run import ChainEvent, Run
from sifaka.record.thought import EDITOR, PERSON, Document, Thought
from sifaka.record.usage import Usage
from sifaka.storage import MemoryStorage
from sifaka.storage.log import read_entries
from sifaka.storage.protocol import ThoughtStore
from sifaka.validators.execution import Validator

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

    from sifaka.models.journaled import JournaledModel


class Replay(Frozen):
    """The outcome of the replay of a run."""

    run: Run
    differences: tuple[str, ...]
    """The departures from the record, one line each; none when the replay is exact."""

    @property
    def exact(self) -> bool:
        """True when every text, every decision and the end are those on record."""
        return not self.differences


async def replay(resources: Resources, recorded: Run) -> Replay:
    """Go through a run again and compare; see `Chain.replay`."""
    if not recorded.finished:
        raise ConfigurationError(
            f"run {recorded.run_id!r} is {recorded.status}", "only a finished run can be replayed"
        )
    if recorded.form < FORM:
        return Replay(run=recorded, differences=("the record is of an older form",))
    store = MemoryStorage()
    entries: list[Entry] = [
        Started(
            run_id=recorded.run_id,
            prompt=recorded.prompt,
            config=recorded.config,
            frame_key=recorded.frame_key,
            form=recorded.form,
            prompts=recorded.prompts,
            mends=recorded.mends and not _is_on_record(recorded.config.model),
            remembered=recorded.remembered,
        )
    ]
    first = recorded.original
    is_researched = recorded.config.inquiry is not None
    if first is None and is_researched:
        return Replay(run=recorded, differences=())  # it ended before there was a version
    if first is not None and (is_researched or first.author == "input"):
        as_written = first.with_text(first.text, post_generation_context=(), history=())
        entries.append(Drafted(thought=as_written))
    run = Run.replay(entries)
    await store.append(run, entries, expected_version=0)
    handed_in = [t for t in recorded.thoughts if t.author == CALLER]
    taken = [t for t in handed_in if (d := recorded.decisions.get(t.id)) and d.accepted]
    goes_on = bool(taken) and taken[0].id != handed_in[-1].id
    config = run.config.model_copy(update={"own_review": run.config.own_review and goes_on})
    # What was left out, declined or answered then is so now.
    run = run.model_copy(
        update={
            "recoveries": tuple(r for r in recorded.recoveries if r.strategy == "skip"),
            "calls": recorded.calls,
            "declined": recorded.declined,
            "declined_issues": recorded.declined_issues,
            "config": config,
        }
    )
    calls = [call.model_copy(update={"key": first_place(call.key)}) for call in recorded.calls]
    if recorded.prompts != PROMPTS_VERSION:  # what was asked had other words
        calls = [call.model_copy(update={"request": ANY_QUESTION}) for call in calls]
    scope = anyio.CancelScope()

    async def leave_when_departed(_: ChainEvent) -> None:
        if len(handle.run.thoughts) > len(recorded.thoughts):
            scope.cancel()
            await checkpoint()

    parts = _bind_to_record(replace(resources, store=store, connections=None), recorded)
    handle = RunHandle(parts, run, journal=calls)
    with scope:
        await handle.work(leave_when_departed, lambda: None)
    return Replay(run=handle.run, differences=tuple(_list_differences(recorded, handle.run)))


async def without_overrides(store: ThoughtStore, run: Run) -> Run:
    """A run as it was before a person intervened, which a replay can repeat.

    Raises:
        StorageError: The store failed.
    """
    if run.stop_reason != "accepted":
        return run
    _, entries = await read_entries(store, run.run_id, run.version)
    kept: list[Entry] = []
    for entry in entries:
        drafted = isinstance(entry, Drafted) and entry.thought.author == PERSON
        if drafted or (isinstance(entry, Decided) and entry.decision.by == "person"):
            break
        kept.append(entry)
        if isinstance(entry, Stopped) and entry.status == "done":
            break
    return Run.replay(kept)


def _bind_to_record(resources: Resources, run: Run) -> Parts:
    """The chain's components, bound to the record of a run."""
    load_pydantic_ai()
    binding = Binding(model=_stand_in(run.config.judge_model or run.config.model), open=_stand_in)
    if resources.retrievers:
        resources = replace(resources, retrievers=(_RecordedRetriever(run),))
    parts = bind_parts(run.config, resources, _make_writers(run), binding)
    names = unique(validator.name for validator in parts.validators)
    return replace(
        parts,
        validators=tuple(
            _RecordedValidator(name, validator, run) if validator.claim_checks else validator
            for name, validator in zip(names, parts.validators, strict=True)
        ),
        critics=tuple(_RecordedCritic(n, critic, run) for n, critic in enumerate(parts.critics)),
    )


def _make_writers(run: Run) -> tuple[Writer, ...]:
    model = run.config.model
    if model == EDITOR:
        return ()
    if _is_on_record(model):
        return (_RecordedWriter(run, model if model.startswith("object:") else CALLER),)
    from sifaka.models.agent import DirectModel

    return (DirectModel(_stand_in(model)),)


def _is_on_record(model: str) -> bool:
    """True where no journal has the answers: the texts on record were read already."""
    return model in {AUTO, EDITOR, CALLER} or model.startswith("object:")


def _stand_in(model: Any) -> "JournaledModel":
    """The stand-in for a model of a name, which answers from the journal alone."""
    if not isinstance(model, str):
        return provider_model(model)
    from pydantic_ai.models.function import FunctionModel

    from sifaka.models.journaled import JournaledModel

    async def refuse(*_: object) -> "ModelResponse":
        raise ModelProviderError(
            f"{model}: this call is not in the journal", error_code="not_recorded"
        )

    return JournaledModel(FunctionModel(refuse, model_name=model))


class _RecordedWriter:
    """A writer whose calls no journal has seen: its versions are those on record, in order."""

    def __init__(self, run: Run, name: str) -> None:
        self.name = name
        skip = run.config.inquiry is not None  # the first version is taken as it is on record
        self._versions = iter([t for t in run.thoughts[skip:] if t.author not in {EDITOR, "input"}])

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version on record; see `Model`."""
        version = next(self._versions, None)
        if version is None:
            raise ModelProviderError(
                "there is no further version on record", error_code="not_recorded"
            )
        generation = Generation(
            text=version.text,
            prompt_used=version.model_prompt,
            author=version.author,
            tool_calls=version.tool_calls,
            metadata=version.metadata,
            usage=version.usage,
        )
        if (refused := version.metadata.get(REFUSED)) is not None:
            raise UnfitDraft(self.name, generation, str(refused))
        return generation


class _RecordedCritic(Component):
    """A critic that abstains where it did, and where it is not ours repeats its answer."""

    def __init__(self, position: int, critic: CriticComponent, run: Run) -> None:
        self.name = critic.name
        self._critic = critic
        # Components that ask models through the journal, or ask none, compute anew.
        self._computed = bool(critic.models) or isinstance(critic, EditorCritic)
        self._said = {t.id: t.critic_feedback[position] for t in run.thoughts if t.critic_feedback}

    @property
    def models(self) -> tuple[Any, ...]:
        """Those whose answers come from the journal, which charges them."""
        return self._critic.models

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The opinion, computed from the journal where that is possible; see `Critic`."""
        recorded = self._said.get(thought.id)
        if recorded is not None and (recorded.status == "abstained" or not self._computed):
            return recorded
        return await self._critic.critique(thought)


class _RecordedValidator(Component):
    """A validator that finds what it has found in sources, which may say something else by now."""

    def __init__(self, name: str, validator: Validator, run: Run) -> None:
        self.name = name
        self.required = validator.required
        self._results = {
            t.id: result for t in run.thoughts if (result := t.validation_results.get(name))
        }

    async def validate(self, thought: Thought) -> ValidationResult:
        """The result on record; see `Validator`."""
        result = self._results.get(thought.id)
        if result is None:
            raise SifakaError(f"what {self.name!r} found is not on record")
        # Later versions were afforded, or not, with what it has cost.
        spent = Usage.model_validate(result.details.get("usage") or {})
        current_calls().ledger.charge(spent.model_copy(update={"seconds": 0.0}))
        return result


@dataclass(frozen=True)
class _RecordedRetriever:
    """Returns the documents on record."""

    run: Run

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """The documents on record for a version's text, or else for the task."""
        for_text = [t.post_generation_context for t in self.run.thoughts if t.text == query]
        for_task = [t.pre_generation_context for t in self.run.thoughts[:1]]
        return next(iter((*for_text, *for_task)), ())


def _list_differences(recorded: Run, run: Run) -> Iterator[str]:
    for before, now in zip(recorded.thoughts, run.thoughts, strict=False):
        if before.text != now.text:
            yield f"version {before.iteration} has another text"
        was, is_ = recorded.decisions.get(before.id), run.decisions.get(before.id)
        if was != is_:
            yield f"version {before.iteration}: decided {is_}, on record is {was}"
    if len(recorded.thoughts) != len(run.thoughts):
        yield f"{len(run.thoughts)} versions, on record are {len(recorded.thoughts)}"
    if recorded.champion_id != run.champion_id:
        yield f"{run.champion_id} is the best version, on record is {recorded.champion_id}"
    # A budget that failed calls and time have used up ends a replay where its record ends.
    spent = (recorded.stop_reason or "").startswith("budget_")
    ended = spent and run.error_code == "not_recorded"
    if recorded.status == "done" and recorded.stop_reason != run.stop_reason and not ended:
        yield f"it stopped for {run.stop_reason}, on record is {recorded.stop_reason}"
