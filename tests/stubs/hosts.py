"""Hosts for chains without a server: one that answers at once, and one that answers later."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from sifaka.calls.host import HostAnswer, HostQuestion, Suspended
from sifaka.errors import ModelProviderError
from sifaka.models.prompt import contents

_DRAFT = re.compile(r"Draft (\d+)")
_NUMBER = re.compile(r"^(d\d+) \(number\): ", re.MULTILINE)
_ACCEPTS: dict[str, object] = {"verdict": "accept"}
Rule = Callable[[HostQuestion], HostAnswer | ModelProviderError]
REFUSED = ModelProviderError("host: the client refused to ask its model", error_code="refused")


def covered(shown: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """The answer of a reviewer who takes any task to ask for other numbers."""
    quote = "".join(shown.get("task", ()))
    found = _NUMBER.findall("".join(shown.get("differences", ())))
    return [{"id": difference, "quote": quote} for difference in found]


def joined(shown: Mapping[str, Sequence[str]]) -> dict[str, list[list[str]]]:
    """The answer about reviews of one draft that all say the same."""
    return {"same": [re.findall(r"^f\d+", shown["findings"][0], re.MULTILINE)]}


def drafts(*, content_with: int = 2) -> Callable[[HostQuestion], HostAnswer]:
    """Writes `Draft 1`, `Draft 2` and so on; is content with one; prefers the later of two."""

    def answer(question: HostQuestion) -> HostAnswer:
        numbers = [int(number) for number in _DRAFT.findall(question.prompt)]
        if "JSON schema" not in question.instructions:
            return HostAnswer(text=f"Draft {max(numbers, default=0) + 1} of the text.")
        shown = contents(question.prompt)[0]
        if "findings" in shown:
            return HostAnswer(text=json.dumps(joined(shown)))
        if '"verdict"' not in question.instructions:
            better = "first" if numbers[0] > numbers[1] else "second"
            return HostAnswer(text=json.dumps({"better": better}))
        number = int(_DRAFT.findall(shown["text"][0])[-1])
        issue = {"quote": f"Draft {number}", "message": "go on", "severity": 5 - number}
        said = {"verdict": "revise", "issues": [issue]} if number < content_with else _ACCEPTS
        return HostAnswer(text=json.dumps({**said, "covered": covered(shown)}))

    return answer


class PresentHost:
    """A host that answers where it is asked.

    Args:
        rule: What it answers.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.asked: dict[str, HostQuestion] = {}
        """By key, in order."""

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        assert key not in self.asked, "it was asked this before"
        self.asked[key] = question
        answer = self._rule(question)
        if isinstance(answer, ModelProviderError):
            raise answer
        return answer


class LaterHost:
    """A host that answers when it is asked for the second time.

    Args:
        rule: What it answers.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.answered: set[str] = set()
        self.rounds: list[tuple[str, ...]] = []
        """The keys of what was asked at the same time."""
        self._known: dict[str, HostAnswer | ModelProviderError] = {}

    def think(self, waiting: Suspended) -> None:
        """Find the answers to what is waited for."""
        self.rounds.append(tuple(waiting.questions))
        self._known = {key: self._rule(question) for key, question in waiting.questions.items()}

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        assert key not in self.answered, "it was asked this before"
        if key not in self._known:
            raise Suspended({key: question})
        self.answered.add(key)
        answer = self._known[key]
        if isinstance(answer, ModelProviderError):
            raise answer
        return answer
