"""Long documents, and a provider that writes and judges them section by section."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from anyio.lowlevel import checkpoint
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.stubs.provider import Reply, Script, calls, fails, says

SECTION_CHARS = 2_000
"""The least that a chain takes: its sections have at most half as many."""
_TEXT = re.compile(r"<text id=(\w+)>\n(.*)\n</text id=\1>", re.DOTALL)
_SENTENCE = "The {name} part tells what the {name} does and leaves the rest to others. "

Answer = str | Exception | Mapping[str, Any]


def part(name: str, sentences: int = 9) -> str:
    """One chapter of a document, as long as a section may be."""
    return f"## {name}\n\n" + (_SENTENCE.format(name=name.lower()) * sentences).strip() + "\n\n"


def document(*names: str) -> str:
    """A document with a chapter for each name."""
    return "# Handbook\n\n" + "".join(part(name) for name in names)


class SectionProvider:
    """Writes by one function of the text that it is shown, and judges by another.

    Args:
        writes: What comes back for a text; the same text when None.
        judges: The fields of the opinion on a text; it accepts when None.
        turns: Turns of the event loop by which each answer takes longer than the one before.
    """

    def __init__(
        self,
        writes: Callable[[str], str | Exception] | None = None,
        judges: Callable[[str], Answer] | None = None,
        *,
        turns: int = 0,
    ) -> None:
        self.written: list[str] = []
        """The texts that it was to write again."""
        self.judged: list[str] = []
        self.prompts: list[str] = []
        """Of the writing, word for word."""
        self.questions: list[str] = []
        """Of the judging."""
        self._writes = writes
        self._judges = judges
        self._turns = turns
        self._asked = 0

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, model_name="sections")

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self._asked += 1
        for _ in range(self._turns * self._asked):
            await checkpoint()
        return self._now(messages, info)

    def _now(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = "".join(str(getattr(each, "content", "")) for each in messages[-1].parts)
        text = shown_text(prompt)
        if info.output_tools:
            self.judged.append(text)
            self.questions.append(prompt)
            answer = self._judges(text) if self._judges else {"verdict": "accept"}
            if isinstance(answer, Exception):
                raise answer
            if isinstance(answer, str):
                return ModelResponse([TextPart(answer)])
            return ModelResponse([ToolCallPart(info.output_tools[0].name, dict(answer))])
        self.written.append(text)
        self.prompts.append(prompt)
        answer = self._writes(text) if self._writes else text
        if isinstance(answer, Exception):
            raise answer
        return ModelResponse([TextPart(answer)])


def title_of(text: str) -> str:
    """The last heading of a section, without marks."""
    headings = [line for line in text.splitlines() if line.startswith("#")]
    return headings[-1].strip("# ") if headings else ""


def shown_text(prompt: str) -> str:
    """The text that a prompt shows between marks; empty when it shows none."""
    match = _TEXT.search(prompt)
    return match.group(2) if match else ""


def by_sections(
    writes: Callable[[str], str],
    judges: Callable[[str], Answer],
    written: list[str],
    failing: frozenset[str] = frozenset(),
) -> Script:
    """A provider's script for one on loopback, which fails with the chapters of some titles.

    Args:
        writes: The text that comes back.
        judges: The fields of the opinion.
        written: The titles of what was written, filled in.
        failing: Titles of chapters.
    """

    def script(request: dict[str, Any]) -> Reply:
        text = shown_text(str(request["messages"][-1]["content"]))
        if request.get("tools"):
            answer = judges(text)
            assert isinstance(answer, Mapping)
            return calls("answer", answer)
        if title_of(text) in failing:
            return fails(400)
        written.append(title_of(text))
        return says(writes(text))

    return script


def document_of_chapters(*names: str, sentences: int = 100) -> str:
    """A document that is longer than the usual limit, with a chapter for each name."""
    return "# Handbook\n\n" + "".join(part(name, sentences) for name in names)
