"""An adapter that answers by a script and writes down what it was asked."""

from collections.abc import Awaitable, Callable, Sequence

from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.storage.protocol import Health

Answer = Sequence[SourceDocument] | Exception
Script = Callable[[str], Answer | Awaitable[Answer]]


class ScriptedAdapter:
    """Answers by a function of the query, with the same to each, or with an error."""

    def __init__(self, script: Script | Answer, *, name: str = "scripted") -> None:
        self.name = name
        self.place = f"script://{name}"
        self.asked: list[tuple[str, int]] = []
        """Queries and limits."""
        self._script = script

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        del filters
        self.asked.append((query, limit))
        answer = self._script(query) if callable(self._script) else self._script
        if isinstance(answer, Awaitable):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def health(self) -> Health:
        raise NotImplementedError

    async def aclose(self) -> None:
        pass


def long_page(name: str, text: str, **fields: object) -> SourceDocument:
    """A page so long that no other is judged in one question with it."""
    blank = " ".join(f"Line {n} about {name} is blank." for n in range(400))
    return page(name, f"{text}\n\n{blank}", **fields)


def page(name: str, text: str = "", **fields: object) -> SourceDocument:
    """A document with a title and a URL of this name."""
    return SourceDocument.model_validate(
        {
            "title": f"Page about {name}",
            "url": f"https://example.org/{name}",
            "text": text or f"All there is to say about {name}.",
            **fields,
        }
    )
