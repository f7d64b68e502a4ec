"""`python -m benchmarks.quality.claims CASES...`: verdicts on labelled claims, by judges that lie.

Each case is a claim, the sentence of a source that is quoted for it, and the truth. A judge knows
the truth or calls everything supported; so does the one who is asked a second time. The engine is
the real one: what it makes of the answers is counted.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from sifaka import Chain
from sifaka.record.claims import CheckOptions
from sifaka.record.thought import Document
from sifaka.tasks.verification import check_claims

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.models.function import AgentInfo

Case = Mapping[str, Any]
HONEST, LIAR = True, False
JUDGES = (
    ("honest, asked twice", HONEST, HONEST, "double"),
    ("honest, asked again where figures differ", HONEST, HONEST, "single"),
    ("lies first, asked twice", LIAR, HONEST, "double"),
    ("lies first, asked again where figures differ", LIAR, HONEST, "single"),
    ("lies twice", LIAR, LIAR, "double"),
)
_FIRST = re.compile(r"^- (claim-\d+) \(claim\): (.+)$", re.MULTILINE)
_SECOND = re.compile(r"Claim (\d+):\s*<claim[^>]*>\s*(.*?)\s*</claim", re.DOTALL)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.claims", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("cases", nargs="+", type=Path, help="JSON lines of labelled claims")
    options = parser.parse_args()
    cases = [
        json.loads(line)
        for path in options.cases
        for line in path.read_text("utf-8").splitlines()
        if line
    ]
    print(*anyio.run(_table, cases), sep="\n")


async def verdicts(
    cases: Sequence[Case], *, first: bool, second: bool, checks: str
) -> Counter[tuple[str, str]]:
    """How many claims of each truth get each verdict."""
    told: Counter[tuple[str, str]] = Counter()
    for case in cases:
        chain = Chain(judge_model=_judge([case], first=first, second=second), critics=[])
        report = await check_claims(
            chain,
            claims=[case["claim"]],
            documents=[Document(text=case["sentence"], title=str(case.get("title", "")))],
            options=CheckOptions.model_validate({"search": False, "checks": checks}),
        )
        told[case["truth"], report.verdicts[0].verdict] += 1
    return told


async def _table(cases: Sequence[Case]) -> list[str]:
    return [line async for line in _rows(cases)]


async def _rows(cases: Sequence[Case]) -> AsyncGenerator[str]:
    counts = Counter(case["truth"] for case in cases)
    true, against = counts["supported"], counts["contradicted"]
    false = counts.total() - true
    yield "| Judge | true claims refused | contradictions lost | false claims `supported` |"
    yield "|---|---|---|---|"
    for name, first, second, checks in JUDGES:
        told = await verdicts(cases, first=first, second=second, checks=checks)
        kept = told["supported", "supported"]
        refused, lost = true - kept, against - told["contradicted", "contradicted"]
        believed = sum(n for (_, verdict), n in told.items() if verdict == "supported") - kept
        yield f"| {name} | {refused} of {true} | {lost} of {against} | {believed} of {false} |"


def _judge(cases: Sequence[Case], *, first: bool, second: bool) -> "Model":
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    known = {" ".join(case["claim"].split()): case for case in cases}

    async def answer(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        asked = "".join(str(getattr(part, "content", "")) for part in messages[-1].parts)
        fields = info.output_tools[0].parameters_json_schema["properties"]
        if "answers" in fields:
            said = [
                {"id": number, "says": not second or _truth(known, claim) == "supported"}
                for number, claim in _SECOND.findall(asked)
            ]
            return ModelResponse(parts=[ToolCallPart("answer", {"answers": said})])
        judged = [_judged(number, known, claim, honest=first) for number, claim in _claims(asked)]
        return ModelResponse(parts=[ToolCallPart("answer", {"judgements": judged})])

    return FunctionModel(answer)


def _claims(asked: str) -> Iterator[tuple[str, str]]:
    for found in _FIRST.finditer(asked):
        yield found[1], found[2]


def _truth(known: Mapping[str, Case], claim: str) -> str:
    return known[" ".join(claim.split())]["truth"]


def _judged(
    number: str, known: Mapping[str, Case], claim: str, *, honest: bool
) -> Mapping[str, object]:
    case = known[" ".join(claim.split())]
    truth = case["truth"] if honest else "supported"
    judgement = {"supported": "support", "contradicted": "reject"}.get(truth)
    return {
        "criterion": number,
        "judgement": judgement or "insufficient_information",
        "contradicts": truth == "contradicted",
        "quotes": [case["sentence"]],
    }


if __name__ == "__main__":
    main()
