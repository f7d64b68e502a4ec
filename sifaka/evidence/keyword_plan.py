"""A plan without a model."""

import re

from sifaka.evidence.criteria import Criterion
from sifaka.evidence.plan import Plan

LONGEST_QUERY = 200
"""Characters: search engines refuse long queries."""
_LONGEST_DESCRIPTION = 1_000
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


def keyword_plan(question: str, degraded: str) -> Plan:
    """The question as a query, its halves as two more, and being about it as the criterion.

    The halves are those of its telling words; a question of one word has none.

    Args:
        question: Not empty.
        degraded: Why no model has made the plan.
    """
    return Plan(
        question=question,
        queries=keyword_queries(question),
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
    line = " ".join(query.split())
    if len(line) <= LONGEST_QUERY:
        return line
    cut = line[: LONGEST_QUERY + 1].rpartition(" ")[0] or line[:LONGEST_QUERY]
    return cut.rstrip()
