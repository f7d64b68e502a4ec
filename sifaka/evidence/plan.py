"""Plans for questions: made by a model, or from the words of the question."""

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from sifaka._internal.naming import unique
from sifaka.calls.failure_log import report_failure
from sifaka.calls.journal import scope
from sifaka.errors import ConfigurationError, SifakaError, StorageError
from sifaka.evidence.model import Criterion, SearchPlan, weighted
from sifaka.models.coercion import Form, Number
from sifaka.models.prompt import Prompt, frame
from sifaka.text.input import check_text
from sifaka.text.prose import whole_words

if TYPE_CHECKING:
    from pydantic_ai.models import Model

LONGEST_QUERY = 200
"""Characters: search engines refuse long queries."""
_WORD = re.compile(r"\S+")
_EDGE = "\"'“”‘’«»()[]{}<>?!.,;:…"
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        """a about an and any are as at be been being but by can could did do does for from had has
        have how i if in is it its many may me might much must my of on or shall should
        so some than that the their them there these they this those to was we were what
        when where which who whom whose why will with would you your""",
    )
)
"""Words of English questions that no document is found by."""


def plain_plan(
    question: str, queries: Sequence[str] = (), degraded: str | None = None
) -> SearchPlan:
    """The question as the only query where no others are given, and being about it as criterion."""
    return SearchPlan(
        question=question,
        queries=tuple(queries) or (shortened(question),),
        criteria=(topic(question),),
        degraded=degraded,
    )


def keyword_queries(question: str) -> tuple[str, ...]:
    """The question as one query, and each half of its telling words."""
    words = [word for each in _WORD.findall(question) if (word := each.strip(_EDGE))]
    telling = [word for word in words if word.casefold() not in _EMPTY]
    if len(telling) < 2:
        telling = words
    middle = (len(telling) + 1) // 2
    halves = (telling[:middle], telling[middle:]) if len(telling) > 1 else ()
    queries = (shortened(question), *(shortened(" ".join(half)) for half in halves))
    return tuple(dict.fromkeys(filter(None, queries)))


def topic(question: str) -> Criterion:
    """The criterion that a document is about the question."""
    line = " ".join(question.split())
    return Criterion(
        id="topic",
        type="topic",
        name="about the question",
        description=f"It helps to answer: {line[:_LONGEST_DESCRIPTION]}",
    )


def shortened(query: str) -> str:
    """A query in one line and of a length that search engines take, cut at the end of a word."""
    return whole_words(" ".join(query.split()), LONGEST_QUERY)


logger = logging.getLogger(__name__)

MAX_QUESTION = 10_000
"""Characters of a question."""
_LEAST_QUERIES, _MOST = 2, 4
_LONGEST_NAME, _LONGEST_DESCRIPTION = 100, 1_000
_DEGRADED = "planned from the question's words"
PROMPT = Prompt(
    purpose="Plans a search: queries for search engines, and criteria for what they find.",
    task="You plan a search for documents that help to answer a question.",
    rules=(
        "`queries`: 2 to 4 queries for search engines, the most telling first. Each has a few "
        "words in the language of the question, and is no sentence.",
        "`criteria`: 1 to 4 criteria that a useful document meets.",
        "Each criterion has a short id of its own and a name. Its `type` is `time` when it asks "
        "only about a time, otherwise `topic`.",
        "Its description says what to look for, in one sentence that can be understood without "
        "the question. Its weight says how much it counts beside the others.",
    ),
    example="For example, the question `How tall is the Eiffel Tower?` has the queries `Eiffel "
    "Tower height` and `Eiffel Tower metres`, and the criterion `It says how tall the Eiffel Tower "
    "is.`",
)
_ASKED = "Plan the search for this question."


class _Criterion(Form):
    """One thing a document should meet."""

    id: str = ""
    type: str = Field(default="topic", description="`topic` or `time`")
    name: str = ""
    description: str = Field(default="", description="what to look for, as a sentence")
    weight: Number = Field(default=0.0, description="how much it counts beside the others")


class _Plan(Form):
    """Queries and criteria for a question."""

    queries: list[str]
    criteria: list[_Criterion]


async def plan(question: str, model: "Model | None") -> SearchPlan:
    """The plan for a question: 2 to 4 queries, 1 to 4 criteria whose weights add up to 1.

    One model call at the place `plan` of the journal. What is wrong with a model's plan is put
    right and noted. Without a model, or when no plan comes of it, the plan is made of the
    question's words and says so in `degraded`; for a question of one word it has one query.

    Raises:
        ConfigurationError: The question is empty, too long, or no Unicode.
        StorageError: The answer could not be put on record.
        Suspended: The answer of the host is needed.
    """
    question = checked_question(question)
    if model is None:
        return plain_plan(question, keyword_queries(question), f"{_DEGRADED}: there is no model")
    try:
        with scope("plan"):
            return await _planned(question, model)
    except StorageError:
        raise
    # A model may be foreign code, and a plan can be made without it.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, "evidence:planner", error)
        reason = error.message if isinstance(error, SifakaError) else type(error).__name__
        return plain_plan(question, keyword_queries(question), f"{_DEGRADED}: {reason}")


def checked_question(question: str) -> str:
    """The question without space around it.

    Raises:
        ConfigurationError: It is empty, too long, or no Unicode.
    """
    question = check_text(question, "question").strip()
    if not question:
        raise ConfigurationError("the question is empty", "say what to look for")
    if len(question) > MAX_QUESTION:
        raise ConfigurationError(
            f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are allowed",
            "ask for less at once",
        )
    return question


async def _planned(question: str, model: "Model") -> SearchPlan:
    from sifaka.models.structured import ask

    asked = f"{frame('question', question)}\n\n{_ASKED}"
    answer, usage = await ask(model, PROMPT.text, asked, _Plan)
    notes: list[str] = []
    queries = _queries(answer.queries, question, notes)
    criteria, weights = _criteria(answer.criteria, question, notes)
    return SearchPlan(
        question=question,
        queries=queries,
        criteria=weighted(criteria, weights),
        notes=tuple(notes),
        usage=usage,
    )


def _queries(given: Sequence[str], question: str, notes: list[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for query in filter(None, map(shortened, given)):
        found.setdefault(query.casefold(), query)
    if len(found) > _MOST:
        notes.append(f"of {len(found)} queries the first {_MOST} were taken")
    if len(found) < _LEAST_QUERIES:
        notes.append(f"the plan had {len(found) or 'no'} queries; the question's words were added")
        for query in keyword_queries(question):
            if len(found) < _LEAST_QUERIES:
                found.setdefault(query.casefold(), query)
    return tuple(found.values())[:_MOST]


def _criteria(
    given: Sequence[_Criterion], question: str, notes: list[str]
) -> tuple[list[Criterion], list[float]]:
    """The criteria, at most four, one of them at least not about time, and their weights."""
    meant = [each for each in given if each.name.strip() or each.description.strip()]
    if len(meant) > _MOST:
        notes.append(f"of {len(meant)} criteria the first {_MOST} were taken")
        meant = meant[:_MOST]
    criteria = [_named(each, number) for number, each in enumerate(meant, 1)]
    weights = [each.weight for each in meant]
    if all(each.is_about_time for each in criteria):
        what = "only criteria about time" if criteria else "no criteria"
        notes.append(f"the plan had {what}; being about the question was added")
        # It counts as much as the heaviest: time alone makes nothing relevant.
        criteria = [topic(question), *criteria[: _MOST - 1]]
        weights = [max(weights, default=1.0), *weights[: _MOST - 1]]
    return _told_apart(criteria, notes), weights


def _named(given: _Criterion, number: int) -> Criterion:
    description = " ".join((given.description or given.name).split())
    return Criterion(
        id=" ".join(given.id.split())[:_LONGEST_NAME] or f"c{number}",
        type=given.type.strip()[:_LONGEST_NAME] or "topic",
        name=" ".join(given.name.split())[:_LONGEST_NAME],
        description=description[:_LONGEST_DESCRIPTION],
    )


def _told_apart(criteria: Sequence[Criterion], notes: list[str]) -> list[Criterion]:
    """The criteria with ids that differ in more than capitals."""
    names = unique([each.id for each in criteria], "{}-{}", key=str.casefold)
    for criterion, name in zip(criteria, names, strict=True):
        if name != criterion.id:
            notes.append(f"two criteria had the id {criterion.id!r}")
    return [
        criterion.model_copy(update={"id": name})
        for criterion, name in zip(criteria, names, strict=True)
    ]
