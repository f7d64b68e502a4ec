"""The part of each prompt that the prompt for the version before has begun with too."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from statistics import fmean

import anyio
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from benchmarks.report import Figure, Report
from benchmarks.samples import prose
from benchmarks.tool_tokens import CHARACTERS_PER_TOKEN
from sifaka.chain import Chain
from sifaka.record.thought import Document
from sifaka.retrievers import MockRetriever

TASK = "Make it clear for readers in a hurry. Keep every fact."
VERSIONS = 4
CRITICS = ("self_refine", {"type": "prompt", "rubric": "It is polite. It says whom to ask."})


class _Recorder:
    """A model that always asks for a revision, and keeps the prompts of each kind."""

    def __init__(self) -> None:
        self.prompts: defaultdict[str, list[str]] = defaultdict(list)
        self.model = FunctionModel(self._answer, model_name="any")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        request = messages[0]
        assert isinstance(request, ModelRequest)
        told = info.instructions or ""
        asked = "".join(str(getattr(part, "content", "")) for part in request.parts)
        self.prompts[told].append(f"{told}\n\n{asked}")
        if not info.output_tools:
            return ModelResponse([TextPart(f"Version {len(self.prompts[told])}. {prose(300)}")])
        answer = {"verdict": "revise", "issues": [{"quote": "Version", "message": "say which"}]}
        return ModelResponse([ToolCallPart("answer", answer)])


def measure() -> Report:
    """The prompts of a run of four versions, each against the one before of its kind."""
    prompts = anyio.run(_prompts)
    repeated = {told: of_kind for told, of_kind in prompts.items() if len(of_kind) > 1}
    names = dict(zip(repeated, ("self_refine", "prompt", "writer"), strict=True))
    return Report(
        title="prompt_prefix: what a prompt shares with the one for the version before",
        method=f"A run of {VERSIONS} versions of 300 words with a document of 500 words, two "
        "critics and a writer. Of each prompt, the instructions included, the characters from its "
        "beginning that the prompt of the same kind for the version before has too; tokens are "
        f"characters / {CHARACTERS_PER_TOKEN}. The first pair of a critic compares the original "
        "with the first version, and shares less.",
        figures=tuple(
            figure
            for told, of_kind in repeated.items()
            for figure in _figures(names[told], of_kind)
        ),
    )


async def _prompts() -> Mapping[str, Sequence[str]]:
    recorder = _Recorder()
    document = Document(id="d", title="Background", text=prose(500))
    chain = Chain(
        model=recorder.model,
        critics=CRITICS,
        retrievers=[MockRetriever([document])],
        policy="last",
        max_iterations=VERSIONS,
        patience=None,
        fixes="none",
    )
    result = await chain.run(TASK, text=prose(300))
    assert len(result.run.thoughts) == 1 + VERSIONS, result.stop_reason
    return recorder.prompts


def _shared(one: str, other: str) -> int:
    """The number of characters that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _figures(name: str, prompts: Sequence[str]) -> Sequence[Figure]:
    pairs = list(pairwise(prompts))[1:]
    shared = fmean(_shared(*pair) for pair in pairs)
    whole = fmean(len(later) for _, later in pairs)
    per_token = CHARACTERS_PER_TOKEN
    return (
        Figure(what=f"{name}: shared", value=shared / per_token, unit="tokens"),
        Figure(what=f"{name}: of", value=whole / per_token, unit="tokens"),
        Figure(what=f"{name}: shared", value=100 * shared / whole, unit="%"),
    )
