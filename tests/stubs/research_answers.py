"""What a model says that takes part in research: by the form that it is asked to fill in."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sifaka.models.prompt import contents
from sifaka.research.researcher import chosen_mode
from tests.stubs.judged_documents import judgements
from tests.stubs.provider import Reply, calls, fails


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A section: what it is called, what is searched for, and the words that a page says on it."""

    title: str
    query: str
    quote: str


class ResearchAnswers:
    """Answers by the question alone, so that whoever asks it again is answered the same.

    Args:
        topics: The sections of the plan.
        failing: The title of a section whose model fails.
        before: Is called with each request first; a reply of its own takes the place of ours.
    """

    def __init__(
        self,
        topics: Sequence[Topic],
        *,
        failing: str = "",
        before: Callable[[Mapping[str, Any]], Reply | None] = lambda request: None,
    ) -> None:
        self._topics = tuple(topics)
        self._failing = failing
        self._before = before

    def __call__(self, request: dict[str, Any]) -> Reply:
        if (reply := self._before(request)) is not None:
            return reply
        asked = asked_of(request)
        form = form_of(request)
        if "sections" in form:
            sections = [{"title": t.title, "question": question_of(t)} for t in self._topics]
            return calls("answer", {"title": "The report", "sections": sections})
        if self._failing and self._topic(asked).title == self._failing and not _is_whole(form):
            return fails(400)
        return calls("answer", self._filled_in(form, asked))

    def _filled_in(self, form: frozenset[str], asked: str) -> dict[str, Any]:
        topic = self._topic(asked)
        if "mode" in form:
            question = contents(asked)[0]["question"][-1]
            return {"question": question, "mode": chosen_mode("auto", question)}
        if "should_continue" in form:
            return {"should_continue": "the researcher sees none" not in asked}
        if "section" in form:
            return {"section": contents(asked)[0]["draft"][-1]}
        if "edits" in form:
            return {"edits": []}
        if "observations" in form:
            return {"observations": f"{topic.title} is looked into."}
        if "research_complete" in form:
            return {"research_complete": f'"{topic.quote}"' in asked, "gaps": [question_of(topic)]}
        if "tasks" in form:
            return {"tasks": [{"query": topic.query}]}
        if "judgements" in form:
            return self._judged(asked)
        if "claims" in form:
            return {"claims": []}
        if "text" in form:
            return {"text": f"{topic.title}: {topic.quote} [{_number_of(topic, asked)}]"}
        if "summary" in form:
            return {"summary": "All of it is told below."}
        if "verdict" in form:
            return {"verdict": "accept"}
        raise AssertionError(f"nobody was to ask for {sorted(form)}")

    def _judged(self, asked: str) -> dict[str, Any]:
        quote = self._topic(asked).quote

        def says(_id: str, _wanted: str, document: str) -> dict[str, Any]:
            if quote not in document:
                return {"judgement": "reject"}
            return {"judgement": "support", "quotes": [quote]}

        return judgements(asked, says)

    def _topic(self, asked: str) -> Topic:
        return next((t for t in self._topics if question_of(t) in asked), self._topics[0])


def question_of(topic: Topic) -> str:
    """What a section has to answer."""
    return f"What is to be told of {topic.query}?"


def form_of(request: Mapping[str, Any]) -> frozenset[str]:
    """The fields that an answer has; none where words are asked for."""
    tools: Sequence[Any] = request.get("tools") or ()
    return frozenset(name for t in tools for name in t["function"]["parameters"]["properties"])


def asked_of(request: Mapping[str, Any]) -> str:
    """The words of the question."""
    return "\n".join(str(each["content"]) for each in request["messages"])


def _is_whole(form: frozenset[str]) -> bool:
    return bool(form & {"summary", "verdict", "claims", "mode", "section", "edits"})


def _number_of(topic: Topic, asked: str) -> int:
    """The number of the finding that says what the topic's page says."""
    before = asked.partition(f'"{topic.quote}"')[0]
    numbers = re.findall(r"^\[(\d+)\]", before, re.MULTILINE)
    return int(numbers[-1]) if numbers else 1
