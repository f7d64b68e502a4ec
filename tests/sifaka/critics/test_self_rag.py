"""Self-RAG: claims held against documents."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from sifaka.critics import SelfRAGCritic
from sifaka.critics.self_rag import Reflection, Reflections
from sifaka.errors import ModelProviderError
from sifaka.models.prompt import contents
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Document, Thought
from sifaka.retrievers.mock import MockRetriever
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge

pytestmark = pytest.mark.anyio


def reflection(relevant: float, full: float, partial: float, none: float) -> Reflection:
    return Reflection(passage=1, relevant=relevant, full=full, partial=partial, none=none)


@pytest.mark.parametrize(
    ("relevant", "support", "usefulness", "score"),
    [
        (1, (1, 0, 0), 5, 2.5),  # 1 + 1 + 0.5 * 1
        (0, (0, 0, 1), 1, -0.5),  # 0 + 0 + 0.5 * -1
        (0.8, (0.5, 0.3, 0.2), 3.6, 1.6),  # .8 + .65 + .5 * .3
        (0.8, (50, 30, 20), 3.6, 1.6),  # the same, not normalised
        (0.5, (0, 1, 0), 3, 1.0),  # .5 + .5 + 0
        (1, (0, 0, 1), 3, 1.0),
        (0.5, (0.001, 0.001, 0.001), 4, 1.25),  # .5 + .5 + .5 * .5
    ],
)
def test_the_score_is_the_weighted_sum_of_its_parts(
    relevant: float, support: tuple[float, float, float], usefulness: float, score: float
) -> None:
    passage = reflection(relevant, *support)
    answer = Reflections(passages=[passage], usefulness=usefulness)
    assert answer.score(passage) == pytest.approx(score)


def test_the_likeliest_degree_of_support_counts() -> None:
    assert reflection(1, 0.6, 0.3, 0.1).supports == "full"
    assert reflection(1, 0.3, 0.6, 0.1).supports == "partial"
    assert reflection(1, 0.1, 0.3, 0.6).supports == "none"
    assert reflection(1, 0.4, 0.4, 0.2).supports == "partial", "of equal ones the lower"


@pytest.mark.parametrize("each", [0, 1e308])
def test_probabilities_that_have_no_sum_say_nothing(each: float) -> None:
    with pytest.raises(ValidationError, match="must add up to 1"):
        reflection(1, each, each, each)


TEXT = "The tower is 300 metres high. It was built in 1889. Everybody loves it."
HEIGHT = Document(id="d1", title="Heights", text="The tower is 330 metres high.")
HISTORY = Document(id="d2", title="History", text="The tower was built from 1887 to 1889.")
CLAIMS = [
    {"quote": "is 300 metres high", "claim": "The tower is 300 metres high.", "need": 0.9},
    {"quote": "built in 1889", "claim": "The tower was built in 1889.", "need": 0.8},
    {"quote": "Everybody loves it", "claim": "Everybody loves the tower.", "need": 0.1},
]
THREE = [*CLAIMS[:2], {**CLAIMS[2], "need": 0.7}]
Verdicts = Mapping[tuple[str, str], str]


QUOTES = {"Heights": "330 metres", "History": "built from 1887  to 1889"}


def judgement(number: int, verdict: str, quote: str = "") -> Mapping[str, Any]:
    return {
        "passage": number,
        "quote": quote,
        "relevant": float(verdict != "irrelevant"),
        "full": float(verdict == "full"),
        "partial": float(verdict == "partial"),
        "none": float(verdict in {"none", "irrelevant"}),
    }


def script(verdicts: Verdicts, claims: list[dict[str, Any]] | None = None) -> Any:
    """Verdicts by a word of the claim and the title of the document; irrelevant otherwise."""

    def answer(asked: Asked) -> Answer:
        if "claims" in asked.fields:
            return {"claims": CLAIMS if claims is None else claims}
        shown = contents(asked.question)[0]
        (claim,) = shown["claim"]
        judged: list[Mapping[str, Any]] = []
        for number, passage in enumerate(shown["passage"], 1):
            title = passage.partition("\n")[0]
            found = [v for (word, of), v in verdicts.items() if word in claim and of in title]
            if "fails" in found:
                return ModelProviderError("refused", error_code="rejected")
            verdict = found[0] if found else "irrelevant"
            judged.append(judgement(number, verdict, QUOTES.get(title, "")))
        return {"passages": judged, "usefulness": 3}

    return answer


async def check(
    scripted: Any, *documents: Document, **options: Any
) -> tuple[CriticFeedback, ScriptedJudge]:
    judge = ScriptedJudge(scripted)
    thought = Thought(text=TEXT, pre_generation_context=documents)
    critic = SelfRAGCritic(**options).bind(judge.binding)
    return await critic.critique(thought), judge


def claims_of(feedback: CriticFeedback) -> list[dict[str, Any]]:
    return feedback.model_dump()["details"]["claims"]


async def test_without_documents_there_is_no_evidence_and_nobody_is_asked() -> None:
    feedback, judge = await check(script({}))
    assert (feedback.status, feedback.verdict, judge.calls) == ("abstained", None, 0)
    assert (feedback.reason or "").startswith("no_evidence: ")
    assert dict(feedback.details) == {"verdict": "no_evidence"}


async def test_an_unsupported_claim_is_an_issue_at_its_place() -> None:
    verdicts = {("300", "Heights"): "none", ("1889", "History"): "full"}
    feedback, judge = await check(script(verdicts), HEIGHT, HISTORY)
    assert feedback.verdict == "revise"
    (issue,) = feedback.issues
    assert (issue.quote, issue.category, issue.severity) == ("is 300 metres high", "evidence", 4)
    assert issue.message == (
        "not supported by 'Heights', which says '330 metres': The tower is 300 metres high."
    )
    assert dict(feedback.scores) == {"support": 0.5}
    assert judge.calls == 1 + 2
    height, year = claims_of(feedback)
    assert (height["support"], height["document"]) == ("none", {"id": "d1", "title": "Heights"})
    assert (height["words"], year["words"]) == ("330 metres", "built from 1887 to 1889")
    assert (year["support"], year["score"]) == ("full", 2.0)


async def test_partial_support_is_a_lesser_issue() -> None:
    verdicts = {("300", "Heights"): "partial", ("1889", "History"): "full"}
    feedback, _ = await check(script(verdicts), HEIGHT, HISTORY)
    assert [(i.severity, i.message[:21]) for i in feedback.issues] == [(3, "only partly supported")]


async def test_the_passage_with_the_best_score_decides() -> None:
    verdicts = {("300", "Heights"): "none", ("300", "History"): "full", ("1889", "History"): "full"}
    feedback, _ = await check(script(verdicts), HEIGHT, HISTORY)
    assert feedback.verdict == "accept"
    assert claims_of(feedback)[0]["document"]["title"] == "History"


async def test_a_claim_no_passage_speaks_about_is_neither_supported_nor_an_issue() -> None:
    feedback, _ = await check(script({("1889", "History"): "full"}), HEIGHT, HISTORY)
    assert (feedback.verdict, feedback.issues) == ("accept", ())
    assert [claim["support"] for claim in claims_of(feedback)] == ["no_evidence", "full"]


async def test_when_no_passage_speaks_about_any_claim_it_abstains() -> None:
    feedback, judge = await check(script({}), HEIGHT)
    assert feedback.status == "abstained"
    assert (feedback.reason or "").startswith("no_evidence: ")
    assert feedback.details["verdict"] == "no_evidence"
    assert feedback.usage.model_calls == judge.calls == 3


async def test_a_text_without_claims_has_no_evidence() -> None:
    for claims in ([], [CLAIMS[2]]):
        feedback, judge = await check(script({}, claims), HEIGHT)
        assert (feedback.reason or "").startswith("no_evidence: ")
        assert judge.calls == 1


async def test_claims_that_need_evidence_most_come_first() -> None:
    verdicts = {("300", "Heights"): "full"}
    told, _ = await check(script(verdicts, CLAIMS[::-1]), HEIGHT, max_claims=1)
    assert [claim["quote"] for claim in claims_of(told)] == ["is 300 metres high"]
    assert told.degraded == ("1 further claims were not checked",)


async def test_a_claim_that_nobody_judged_does_not_count() -> None:
    verdicts = {("300", "Heights"): "fails", ("1889", "Heights"): "full", ("loves", "H"): "full"}
    feedback, _ = await check(script(verdicts, THREE), HEIGHT)
    assert feedback.verdict == "accept"
    assert [claim["support"] for claim in claims_of(feedback)] == ["not_judged", "full", "full"]
    assert feedback.degraded == ("claim 1: refused",)


@pytest.mark.parametrize(
    ("verdicts", "claims", "verdict", "reason"),
    [
        ({("300", "Heights"): "fails", ("1889", "Heights"): "full"}, CLAIMS, None, "refused"),
        ({("300", "Heights"): "fails", ("1889", "Heights"): "none"}, CLAIMS, "revise", ""),
        ({("300", "Heights"): "fails"}, THREE, None, "no_evidence: "),
        ({("300", "Heights"): "fails", ("1889", "Heights"): "fails"}, CLAIMS, None, "refused"),
    ],
    ids=[
        "half were judged",
        "one is wrong all the same",
        "nothing on the others",
        "none was judged",
    ],
)
async def test_claims_that_nobody_judged_are_no_reason_to_accept(
    verdicts: Verdicts, claims: list[dict[str, Any]], verdict: str | None, reason: str
) -> None:
    feedback, _ = await check(script(verdicts, claims), HEIGHT)
    assert (feedback.status, feedback.verdict) == ("ok" if verdict else "abstained", verdict)
    assert reason in (feedback.reason or "")
    assert verdict or "refused" in (feedback.reason or "")
    assert feedback.degraded[0] == "claim 1: refused"


async def test_a_retriever_is_asked_besides() -> None:
    retriever = MockRetriever(documents=(HISTORY,))
    verdicts = {("1889", "History"): "full"}
    feedback, _ = await check(script(verdicts), retriever=retriever)
    assert feedback.verdict == "accept"


async def test_the_claim_and_the_passage_stand_between_marks() -> None:
    _, judge = await check(script({}), HEIGHT)
    for asked in judge.asked[1:]:
        assert asked.question.startswith("Passage 1:\n\n<passage id=")
        assert "<claim id=" in asked.question


async def test_words_that_the_passage_does_not_have_are_not_told() -> None:
    def invents(asked: Asked) -> Answer:
        answer: Any = script({("300", "Heights"): "none", ("1889", "Heights"): "full"})(asked)
        for passage in answer.get("passages", ()):
            passage["quote"] = "350 yards"
        return answer

    feedback, _ = await check(invents, HEIGHT)
    (issue,) = feedback.issues
    assert issue.message == "not supported by 'Heights': The tower is 300 metres high."


async def test_an_answer_about_other_passages_judges_nothing() -> None:
    def misnumbered(asked: Asked) -> Answer:
        if "claims" in asked.fields:
            return {"claims": CLAIMS}
        return {"passages": [judgement(7, "full")], "usefulness": 3}

    feedback, _ = await check(misnumbered, HEIGHT)
    assert (feedback.status, feedback.details["code"]) == ("abstained", "malformed")
