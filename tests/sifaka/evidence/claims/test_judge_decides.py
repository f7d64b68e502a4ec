"""The judge decides about a claim: rules flag, a second question settles, nothing is overturned."""

import json
from pathlib import Path
from typing import Any

import pytest

from sifaka.errors import ModelProviderError
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.sources.collection import NONE
from sifaka.record.claims import CheckOptions, ClaimReport, ClaimVerdict, verdicts_in
from sifaka.record.thought import Document
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge
from tests.sifaka.evidence.claims.reader import second_question

pytestmark = pytest.mark.anyio

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "judgements.jsonl").read_text().splitlines()
]
BUILT, QUOTE = "The tower was built in 1888.", "The tower was built in 1889."


class Judge:
    """Says what it is told to, about claims that are known by their words."""

    def __init__(self, judgement: str, quote: str, *, confirms: bool | Exception = True) -> None:
        self.second: list[str] = []
        self._first = {
            "criterion": "claim-1",
            "judgement": "reject" if judgement == "contradicted" else "support",
            "contradicts": judgement == "contradicted",
            "quotes": [quote],
        }
        self._confirms = confirms
        self.model = ScriptedJudge(self._answer).model

    def _answer(self, asked: Asked) -> Answer:
        if "answers" not in asked.fields:
            return {"judgements": [self._first]}
        self.second.append(asked.question)
        if isinstance(self._confirms, Exception):
            raise self._confirms
        answers = [
            {"id": name, "says": self._confirms, "missing": "" if self._confirms else "the year"}
            for name, _, _ in second_question(asked.question)
        ]
        return {"answers": answers}


async def checked(judge: Judge, claim: str, text: str, **options: Any) -> ClaimReport:
    return await EvidenceChecker(NONE, judge.model).check(
        claims=[claim],
        documents=[Document(text=text, title="A page")],
        options=CheckOptions(search=False, max_age_seconds=0, **options),
    )


@pytest.mark.parametrize("checks", ["single", "double"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["claim"])
async def test_nothing_right_that_a_judge_says_is_overturned(
    case: dict[str, str], checks: str
) -> None:
    judge = Judge(case["truth"], case["sentence"])
    (verdict,) = (await checked(judge, case["claim"], case["sentence"], checks=checks)).verdicts
    assert verdict.verdict == case["truth"]


async def test_a_figure_that_disagrees_is_asked_about_blind_and_confirmed_with_its_flag() -> None:
    judge = Judge("supported", QUOTE)
    text = f"It stands by the river. {QUOTE} It rusts. It is not for sale."
    (verdict,) = (await checked(judge, BUILT, text)).verdicts
    (evidence,) = verdict.evidence
    assert (verdict.verdict, evidence.stance) == ("supported", "supports")
    assert "1888" in evidence.flag
    (question,) = judge.second
    assert "It stands by the river." in question
    assert "It rusts." in question
    assert "A page" in question
    assert "not for sale" not in question
    assert "supports" not in question


@pytest.mark.parametrize(
    "confirms", [False, ModelProviderError("refused", code="rejected")], ids=["no", "no answer"]
)
async def test_what_is_not_confirmed_is_in_doubt_and_blocks(confirms: bool | Exception) -> None:
    report = await checked(Judge("supported", QUOTE, confirms=confirms), BUILT, QUOTE)
    (verdict,) = report.blocking
    assert (verdict.verdict, verdict.evidence[0].stance) == ("in_doubt", "in_doubt")
    assert "1888" in verdict.reason


async def test_support_without_a_flag_is_asked_about_only_when_checks_are_double() -> None:
    for checks, status in (("single", "supported"), ("double", "in_doubt")):
        judge = Judge("supported", QUOTE, confirms=False)
        (verdict,) = (await checked(judge, QUOTE, QUOTE, checks=checks)).verdicts
        assert verdict.verdict == status
        assert len(judge.second) == (checks == "double")


def test_verdicts_of_an_older_form_are_still_read() -> None:
    made = {"claim": {"text": BUILT}, "verdict": "unverified", "reason": "it is in doubt"}
    old = {**made, "evidence": [{"stance": "unjudged", "quote": QUOTE}]}
    (verdict,) = verdicts_in({"claims": [old]})
    assert isinstance(verdict, ClaimVerdict)
    assert (verdict.verdict, verdict.evidence[0].flag) == ("unverified", "")
