"""Documents held against criteria by a model, whose quotes are looked up."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, TypeVarTuple

import anyio
from anyio import to_thread
from pydantic import Field

from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.calls.journal import scope
from sifaka.errors import SifakaError, StorageError
from sifaka.evidence.classify import Answered, assess
from sifaka.evidence.documents import SourceDocument, plain, plain_line
from sifaka.evidence.model import Criterion, Judgement, Verification
from sifaka.evidence.passages import GAP, excerpt
from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Ts = TypeVarTuple("Ts")
Result = TypeVar("Result")
logger = logging.getLogger(__name__)

NO_MODEL = "there is no model"
PARALLEL = 10
"""Documents that are verified at the same time, where nothing else is said."""
SHOWN = 8_000
"""Characters of documents that one question shows; of a longer document those nearest to its
criteria."""
JUDGEMENTS = 30
"""Judgements that one question asks for."""
_TITLE = 300
_AT_ONCE = 100_000
"""Characters that may be read without a thread, about a millisecond."""
PROMPT = Prompt(
    purpose="Judges documents against criteria, with quotes that are looked up afterwards.",
    task="You judge each document against its criteria. Give one judgement for each of them, under "
    "the document's number and the criterion's id.",
    rules=(
        "Judge by that document alone, and not by what you know or another one says.",
        "`support`: the document says or shows everything that the criterion asks for.",
        "`somewhat_support`: it does so in part, or only by implication.",
        "`reject`: it speaks about something else, or it says the contrary. Set `contradicts` to "
        "true only when it says the contrary.",
        "`insufficient_information`: what is shown of it does not allow a judgement.",
        "Quote the words that show support, or that say the contrary. Copy each quote exactly and "
        "in one piece: at least some words, at most two sentences.",
        f"`{GAP.strip()}` marks where passages were left out. No quote goes across it.",
        "For a criterion about time you may quote the line `Published`.",
    ),
)
_ASKED = "Judge each document against its criteria."


class Sheet(NamedTuple):
    """A document and what it is to be judged by."""

    document: SourceDocument
    criteria: Sequence[Criterion]

    @property
    def share(self) -> float:
        """The share of one question that it takes; 1 is all of it."""
        shown = min(1.0, len(self.document.text) / SHOWN)
        return max(shown, len(self.criteria) / JUDGEMENTS)


class _Judged(Form):
    """The judgement of one document on one criterion."""

    document: int = Field(default=1, description="the document's number")
    criterion: str = Field(min_length=1, description="the criterion's id")
    quotes: list[str] = Field(
        default_factory=list[str], description="words of the document, copied exactly"
    )
    judgement: Judgement
    contradicts: bool = Field(
        default=False, description="with `reject`: true when the document says the contrary"
    )


class _Judgements(Form):
    """The judgement of each document on each of its criteria."""

    judgements: list[_Judged]


def packed(sheets: Iterable[Sheet]) -> list[list[Sheet]]:
    """The sheets in their order, as many together as one question has room for."""
    packs: list[list[Sheet]] = []
    room = 0.0
    for sheet in sheets:
        if sheet.share > room:
            packs.append([])
            room = 1.0
        packs[-1].append(sheet)
        room -= sheet.share
    return packs


def verifications(
    packs: Iterable[Sequence[Sheet]],
    *,
    question: str,
    model: "Model | None",
    without: str = NO_MODEL,
) -> Mapping[str, Callable[[], Awaitable[list[Verification]]]]:
    """The judging of each pack of documents, for `fan_out` or `as_completed`.

    One model call a pack, at the place `documents N` of the journal, with a verification for each
    document; a second round in one run needs a scope of its own. Documents for which the model
    cannot be asked, or the budget has no room, are `degraded` and have no judgements; `without` is
    the reason where there is no model. The criteria of a pack have different ids, or are the same.
    Each raises `StorageError` when its answer could not be put on record, and `Suspended` for the
    host.
    """
    return {
        f"documents {number}": partial(_verified, pack, question, model, without)
        for number, pack in enumerate(packs)
    }


async def _verified(
    pack: Sequence[Sheet], question: str, model: "Model | None", without: str
) -> list[Verification]:
    if model is None or not any(sheet.criteria for sheet in pack):
        reason = without if model is None else "there is no criterion to hold it against"
    else:
        try:
            return await _asked(pack, question, model)
        except StorageError:
            raise
        # A model may be foreign code, and the failure of one question costs the others nothing.
        except Exception as error:  # noqa: BLE001 - reported just below
            report_failure(logger, "evidence:verifier", error)
            reason = error.message if isinstance(error, SifakaError) else type(error).__name__
    return [Verification(document=sheet.document, degraded=reason) for sheet in pack]


async def _asked(pack: Sequence[Sheet], question: str, model: "Model") -> list[Verification]:
    from sifaka.models.structured import ask

    texts = [await _aside(len(d.text), plain, d.text) for d, _ in pack]
    criteria = {each.id: each for sheet in pack for each in sheet.criteria}
    lines = "\n".join(map(_line, criteria.values()))
    parts = [frame("question", question), frame("criteria", lines)]
    for number, (sheet, text) in enumerate(zip(pack, texts, strict=True), 1):
        if len(pack) > 1:
            parts.append(f"Document {number}, by {', '.join(each.id for each in sheet.criteria)}:")
        shown = await _shown(text, sheet.criteria)
        parts.append(frame("document", f"{_head(sheet.document)}\n\n{shown}"))
    answer, usage = await ask(model, PROMPT.text, "\n\n".join((*parts, _ASKED)), _Judgements)
    verified: list[Verification] = []
    for number, ((document, own), text) in enumerate(zip(pack, texts, strict=True), 1):
        said = [
            Answered(each.criterion, each.judgement, tuple(each.quotes), each.contradicts)
            for each in answer.judgements
            if each.document == number or len(pack) == 1
        ]
        places = (text, document.title, _published(document))
        assessments = await _aside(len(text) * len(said), assess, said, own, places)
        verified.append(Verification(document=document, assessments=assessments))
    # What the question has cost is told once.
    return [verified[0].model_copy(update={"usage": usage}), *verified[1:]]


async def _aside(size: int, read: Callable[[*Ts], Result], *given: *Ts) -> Result:
    """The result of what reads `size` characters; in a thread where that holds the others up."""
    if size <= _AT_ONCE:
        return read(*given)
    return await to_thread.run_sync(read, *given)


def _line(criterion: Criterion) -> str:
    told = " ".join(f"{criterion.name}: {criterion.description}".strip(": ").split())
    return f"- {criterion.id} ({criterion.type.strip()}): {told}"


def _head(document: SourceDocument) -> str:
    # The day it was found is today's for the model, and the same when the run is resumed. What goes
    # on to another line could pretend to be the date.
    lines = (
        f"Title: {plain_line(document.title, _TITLE)}" if document.title else "",
        f"From: {plain_line(document.url, _TITLE)}" if document.url else "",
        _published(document),
        f"Retrieved: {document.retrieved_at.date().isoformat()}",
    )
    return "\n".join(filter(None, lines))


def _published(document: SourceDocument) -> str:
    return f"Published: {document.published.date().isoformat()}" if document.published else ""


async def _shown(text: str, criteria: Sequence[Criterion]) -> str:
    if len(text) <= SHOWN:
        return text
    queries = [f"{each.name} {each.description}" for each in criteria]
    return await to_thread.run_sync(excerpt, text, queries, SHOWN)


T = TypeVar("T")


async def as_completed(
    branches: Mapping[str, Callable[[], Awaitable[T]]], *, parallel: int
) -> AsyncGenerator[tuple[int, T], None]:
    """Yield the number and the result of each branch when it is done.

    Unlike `fan_out` it sets no calls aside: each branch takes what is left when its turn comes.
    Tasks of its own and no task group: a generator may be closed by another task than the one that
    has used it. Whatever still runs then is cancelled and waited for.

    Raises:
        Suspended: Some wait for answers of the host; the others have come to their end.
        Exception: What the first branch that failed raised; the others were cancelled.
    """
    limiter = asyncio.Semaphore(parallel)

    async def run(name: str, branch: Callable[[], Awaitable[T]]) -> T:
        async with limiter:
            with scope(name):
                return await branch()

    done: asyncio.Queue[asyncio.Task[T]] = asyncio.Queue()
    numbers = {
        asyncio.create_task(run(name, branch)): number
        for number, (name, branch) in enumerate(branches.items())
    }
    for task in numbers:
        task.add_done_callback(done.put_nowait)
    waiting: list[Suspended] = []
    try:
        for _ in numbers:
            task = await done.get()
            try:
                result = task.result()
            except Suspended as suspended:
                waiting.append(suspended)
            else:
                yield numbers[task], result
    finally:
        await _ended(numbers)
    if waiting:
        raise Suspended.together(waiting)


async def _ended(tasks: Mapping[asyncio.Task[T], int]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        with anyio.CancelScope(shield=True):
            await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # raised to the reader, or the reader is gone
