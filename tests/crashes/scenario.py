"""The run that is killed: whatever process asks, the same question has the same answer."""

import json
import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from anyio.lowlevel import checkpoint
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain
from sifaka.critics import CriticSpec
from sifaka.models.journaled import digest
from sifaka.record.entries import Policy
from sifaka.storage.protocol import ThoughtStore

TASK = "Announce the move of the harbour office."
TEXT = "Draft 0. The harbour office of Port Ellen moves soon and everybody should know of that."
_WORDS = (
    *("harbour", "office", "quay", "letter", "morning", "ferry", "crane", "ledger", "pilot"),
    *("signal", "anchor", "tide", "mooring", "cargo", "captain", "notice", "counter", "window"),
    *("stairs", "corner", "beacon", "timber", "rope", "barrel", "lantern", "chart", "compass"),
)
_DRAFT = re.compile(r"Draft (\d+)\.(?: \w+)*")
_WORST = 9
"""Issues of a version that is worse than all before it."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One configuration whose runs are killed."""

    name: str
    policy: Policy
    iterations: int
    critics: tuple[CriticSpec, ...]

    def chain(self, store: ThoughtStore, log: Path) -> Chain:
        """The chain, the same in each process; what its provider is asked goes into the log."""
        return Chain(
            model=FunctionModel(Provider(log).answer, model_name="scripted"),
            critics=self.critics,
            policy=self.policy,
            max_iterations=self.iterations,
            patience=None,
            facts="off",  # the number of a draft is one
            store=store,
        )


_PRINCIPLES = (
    {"name": "plain", "critique": "Is it in plain words?", "revision": "Say it in plain words."},
    {"name": "dated", "critique": "Does it name a day?", "revision": "Name the day."},
)
REFINING = Scenario(
    name="refining",
    policy="best",
    iterations=6,
    critics=(
        "self_refine",
        {"type": "constitutional", "principles": _PRINCIPLES},
        {"type": "self_consistency", "n": 3},
    ),
)
"""48 model calls: 6 versions after the input, each of them judged by 7 questions."""
JUDGED = Scenario(name="judged", policy="judged", iterations=3, critics=("self_refine",))
"""The phases that the first one does not have: judges, and a look back at the end."""


class Provider:
    """Answers by the question alone, and notes each question durably before it does."""

    def __init__(self, log: Path) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = digest(messages, info.model_settings, info.model_request_parameters)
        os.write(self._log, f"{asked}\n".encode())
        os.fsync(self._log)
        for _ in range(int(asked[0], 16) % 4):  # others get their turn while this one waits
            await checkpoint()
        question = str(getattr(messages[-1].parts[-1], "content", ""))
        if not info.output_tools:
            return ModelResponse([TextPart(_written(question))])
        form = info.output_tools[0].parameters_json_schema["properties"]
        return ModelResponse([ToolCallPart("answer", json.dumps(_said(question, form, asked)))])


def _written(question: str) -> str:
    """The version after the latest in the question; its words follow from all of the question."""
    seed = sha256(question.encode()).digest()
    words = [_WORDS[byte % len(_WORDS)] for byte in seed[:24]]
    return f"Draft {_latest(question)[0] + 1}. {' '.join(dict.fromkeys(words))}"


def _said(question: str, form: dict[str, object], asked: str) -> dict[str, object]:
    if "same" in form:  # findings about the same word
        ids: dict[str, list[str]] = {}
        for id_, word in re.findall(r"^(f\d+) .*say more than '(\w+)'$", question, re.MULTILINE):
            ids.setdefault(word, []).append(id_)
        return {"same": list(ids.values())}
    number, text = _latest(question)
    if "verdict" not in form:  # of two texts, the one with the higher number
        *_, first, second = (int(found) for found in re.findall(r"Draft (\d+)\.", question))
        return {"reason": asked[:8], "better": "first" if first > second else "second"}
    # Fewer issues with each version, so that each takes the place of the one before but the last.
    count = _WORST if number == 6 else 8 - number
    if "quotes" in form:
        words = text.split()[2 : 2 + count]
        return {"verdict": "revise", "quotes": words, "message": f"{asked[:6]}: say more"}
    issues = [
        {"quote": word, "message": f"{asked[:6]}: say more than {word!r}", "severity": 2}
        for word in text.split()[2 : 2 + count]
    ]
    scores = {"clear": int(asked[:2], 16) / 255} if "scores" in form else {}
    return {"verdict": "revise", "issues": issues, **({"scores": scores} if scores else {})}


def _latest(question: str) -> tuple[int, str]:
    """The number and the words of the version that a question is about."""
    # The original stands before it in a question.
    found = max(_DRAFT.finditer(question), key=lambda match: int(match.group(1)))
    return int(found.group(1)), found.group()
