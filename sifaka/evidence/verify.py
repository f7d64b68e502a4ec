"""Documents held against criteria by a model, whose quotes are looked up."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

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
_SHOWN = 8_000
"""Characters of a document that the model sees; of a longer one those nearest to the criteria."""
_TITLE = 300
_AT_ONCE = 100_000
"""Characters that may be read without a thread, about a millisecond."""
PROMPT = Prompt(
    purpose="Judges one document against criteria, with quotes that are looked up afterwards.",
    task="You judge one document against each criterion in `criteria`. Give one judgement for each "
    "criterion, under its id.",
    rules=(
        "Judge by the document alone, and not by what you know.",
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
_ASKED = "Judge the document against each criterion."


class _Judged(Form):
    """The judgement on one criterion."""

    criterion: str = Field(min_length=1, description="the criterion's id")
    quotes: list[str] = Field(
        default_factory=list[str], description="words of the document, copied exactly"
    )
    judgement: Judgement
    contradicts: bool = Field(
        default=False, description="with `reject`: true when the document says the contrary"
    )


class _Judgements(Form):
    """The document's judgement on each criterion."""

    judgements: list[_Judged]


def verifications(
    asked: Iterable[tuple[SourceDocument, Sequence[Criterion]]],
    *,
    question: str,
    model: "Model | None",
) -> Mapping[str, Callable[[], Awaitable[Verification]]]:
    """The judging of each document by its criteria, for `fan_out` or `as_completed`.

    One model call a document, at the place `document N` of the journal; a second verification in
    one run needs a scope of its own. A document for which the model cannot be asked, or the budget
    has no room, is `degraded` and has no judgements. Its criteria have different ids. Each raises
    `StorageError` when its answer could not be put on record, and `Suspended` for the host.
    """
    return {
        f"document {number}": partial(_verified, document, criteria, question, model)
        for number, (document, criteria) in enumerate(asked)
    }


async def _verified(
    document: SourceDocument,
    criteria: Sequence[Criterion],
    question: str,
    model: "Model | None",
) -> Verification:
    if model is None or not criteria:
        degraded = NO_MODEL if model is None else "there is no criterion to hold it against"
        return Verification(document=document, degraded=degraded)
    try:
        return await _asked(document, criteria, question, model)
    except StorageError:
        raise
    # A model may be foreign code, and one document's failure costs the others nothing.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "evidence:verifier", error)
        reason = error.message if isinstance(error, SifakaError) else type(error).__name__
        return Verification(document=document, degraded=reason)


async def _asked(
    document: SourceDocument, criteria: Sequence[Criterion], question: str, model: "Model"
) -> Verification:
    from sifaka.models.structured import ask

    text = await _aside(len(document.text), plain, document.text)
    prompt = "\n\n".join(
        (
            frame("question", question),
            frame("criteria", "\n".join(map(_line, criteria))),
            frame("document", f"{_head(document)}\n\n{await _shown(text, criteria)}"),
            _ASKED,
        )
    )
    answer, usage = await ask(model, PROMPT.text, prompt, _Judgements)
    answered = [
        Answered(each.criterion, each.judgement, tuple(each.quotes), each.contradicts)
        for each in answer.judgements
    ]
    texts = (text, document.title, _published(document))
    size = len(text) * len(answered)
    assessments = await _aside(size, assess, answered, criteria, texts)
    return Verification(document=document, assessments=assessments, usage=usage)


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
    if len(text) <= _SHOWN:
        return text
    queries = [f"{each.name} {each.description}" for each in criteria]
    return await to_thread.run_sync(excerpt, text, queries, _SHOWN)


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
