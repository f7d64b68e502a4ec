"""The consensus world: a critic asked n times finds true issues and invents false ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from benchmarks.quality.draws import Noise
from sifaka.chain import Chain
from sifaka.critics.self_consistency import SelfConsistencyCritic
from sifaka.record.results import Issue
from sifaka.testing import ScriptedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A possible remark on the text, in different words about different quotes."""

    real: bool
    category: str
    quotes: tuple[str, ...]
    messages: tuple[str, ...]


def _finding(category: str, quotes: str, messages: str, *, real: bool = False) -> Finding:
    return Finding(
        real=real,
        category=category,
        quotes=tuple(quotes.split(" | ")),
        messages=tuple(messages.split(" | ")),
    )


TEXT = (
    "The pump was installed in the spring by our own people. It are checked twice a week, and it "
    "basically never fails. Water comes from the lake, which is 40 metres deep. Everybody knows "
    "that the lake is clean. The old pump was sold for a good price. We thank the donors who made "
    "it possible. Next year there will be a second pump. The village has 300 inhabitants, all 400 "
    "of whom have water now. More is said in the report. It can be read in the library."
)
FINDINGS = (
    _finding(
        "grammar",
        "It are checked twice a week | It are checked",
        "the verb does not agree with its subject | subject and verb do not agree: write is | "
        "verb and subject disagree in number",
        real=True,
    ),
    _finding(
        "style",
        "it basically never fails | basically never fails",
        "the filler word basically says nothing | basically is filler, delete the word | "
        "delete basically, a filler word",
        real=True,
    ),
    _finding(
        "evidence",
        "Everybody knows that the lake is clean | the lake is clean",
        "the claim of a clean lake has no source | no source for the claim | "
        "a claim without any source",
        real=True,
    ),
    _finding(
        "consistency",
        "The village has 300 inhabitants, all 400 of whom | 300 inhabitants, all 400",
        "the numbers 300 and 400 contradict each other | 300 contradicts 400 | "
        "two numbers that contradict each other: 300 and 400",
        real=True,
    ),
    _finding(
        "precision",
        "installed in the spring | in the spring by our own people",
        "the date of the installation is missing | date missing | say the date",
    ),
    _finding(
        "precision",
        "which is 40 metres deep | 40 metres deep",
        "the depth needs another unit | give the depth in feet too | depth: which unit",
    ),
    _finding(
        "tone",
        "sold for a good price | for a good price",
        "too proud of the price | the price sounds boastful | boastful about the price",
    ),
    _finding(
        "completeness",
        "We thank the donors | the donors who made it possible",
        "name the donors | the donors are not named | names of the donors are missing",
    ),
    _finding(
        "style",
        "Next year there will be a second pump | there will be a second pump",
        "there will be is a weak opening | weak opening with there | avoid there will be",
    ),
    _finding(
        "completeness",
        "More is said in the report | in the report",
        "which report is not said | title of the report is missing | the report has no title",
    ),
)
"""Four that are true, six that are not. Some share a category, two share a sentence."""
CATEGORIES = tuple(dict.fromkeys(finding.category for finding in FINDINGS))
_ID = {message: n for n, finding in enumerate(FINDINGS) for message in finding.messages}
REAL = sum(finding.real for finding in FINDINGS)
FALSE = len(FINDINGS) - REAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Reviews of the text by n samples of one critic."""

    samples: int
    found: float
    """The probability that a sample reports a certain true issue."""
    invented: float
    """The probability that it reports a certain false one."""
    reviews: int
    seed: str
    varied: bool = False
    """True when each report names a category by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The issues of one review."""

    right: int
    """True issues."""
    wrong: int
    """False issues, and true ones that are reported a second time."""


def play(panel: Panel) -> tuple[Review, ...]:
    """Let the critic review the text as often as wanted, each time in a run of its own."""
    return anyio.run(_play, panel)


async def _play(panel: Panel) -> tuple[Review, ...]:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    noise = Noise(panel.seed)

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        joins = "same" in info.output_tools[0].parameters_json_schema["properties"]
        question = "".join(str(getattr(part, "content", "")) for part in messages[0].parts)
        said = joined(question) if joins else opinion(panel, noise)
        return ModelResponse(parts=[ToolCallPart(tool_name="answer", args=said)])

    critic = SelfConsistencyCritic(n=panel.samples, model=FunctionModel(answer))
    chain = Chain(model=ScriptedModel(lines=()), critics=(critic,), max_iterations=0, fixes="none")
    reviews: list[Review] = []
    for _ in range(panel.reviews):
        result = await chain.run(text=TEXT)
        if result.status != "done":
            raise RuntimeError(f"the run ended {result.status}: {result.error}")
        reviews.append(counted(result.issues))
    return tuple(reviews)


def opinion(panel: Panel, noise: Noise) -> dict[str, Any]:
    """The answer of one sample."""
    issues = [
        {
            "quote": _one(finding.quotes, noise),
            "message": _one(finding.messages, noise),
            "category": _one(CATEGORIES, noise) if panel.varied else finding.category,
            "severity": 3,
        }
        for finding in FINDINGS
        if noise.chance(panel.found if finding.real else panel.invented)
    ]
    return {"verdict": "revise" if issues else "accept", "issues": issues}


def joined(question: str) -> dict[str, Any]:
    """The answer of one that reads what findings mean: those about the same are the same."""
    same: dict[int, list[str]] = {}
    for line in question.splitlines():
        meant = {n for message, n in _ID.items() if line.endswith(f": {message}")}
        for n in meant:
            same.setdefault(n, []).append(line.partition(" ")[0])
    return {"same": list(same.values())}


def counted(issues: Sequence[Issue]) -> Review:
    """The number of true issues; a repeated one counts once."""
    told = [_ID[issue.message] for issue in issues]
    right = len({n for n in told if FINDINGS[n].real})
    return Review(right=right, wrong=len(told) - right)


def _one(of: Sequence[str], noise: Noise) -> str:
    return of[min(len(of) - 1, int(noise.uniform() * len(of)))]
