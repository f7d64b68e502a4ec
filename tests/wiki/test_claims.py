"""A text of ten claims against a real wiki: five true, three false, two unknown to it.

The model that judges knows nothing: it compares words and numbers with what it is shown.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from sifaka import improve
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.mediawiki import MediaWikiAdapter
from sifaka.record.claims import ClaimVerdict, verdicts_in
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.sifaka.critics.scripted_judge import ScriptedJudge
from tests.sifaka.evidence.claims.reader import correct, reads
from tests.stubs.judged_documents import judgements

pytestmark = [pytest.mark.anyio, pytest.mark.wiki]

TRUE = (
    "The tower of Gannet Head Lighthouse is 41 metres tall.",
    "Mount Corrin is the highest point of the Varrow Isles at 1,036 metres.",
    "The Tessel Causeway is 2.3 kilometres long and was opened on 6 June 1964.",
    "The ferry Kittiwake carries 340 passengers and 48 cars.",
    "The Hask Maritime Museum shows 1,150 objects, among them a figurehead.",
)
FALSE = (
    "The usual path up Mount Corrin starts at Norrick and is 15 kilometres long.",
    "The comet Holt was discovered at the Ombry Observatory on 22 September 1975.",
    "In 1881 Ida Thorsby published On Towers in Wind, a treatise of 212 pages.",
)
UNKNOWN = (
    "A ticket for the ferry Kittiwake costs 9 crowns.",
    "The mother of Ida Thorsby sang in the choir of a church for 30 years.",
)
TEXT = " ".join((*TRUE[:2], *FALSE[:1], *UNKNOWN[:1], *TRUE[2:], *FALSE[1:], *UNKNOWN[1:]))
CORRECTED = TEXT.replace("15 kil", "11 kil").replace("1975", "1971").replace("212", "312")
PAGES = Path(__file__).parent / "pages"
CONTENT = ScriptedCritic(objects_to=lambda _: False)


def statuses(verdicts: tuple[ClaimVerdict, ...]) -> dict[str, str]:
    return {verdict.claim.text: verdict.verdict for verdict in verdicts}


def expected(*, false: str) -> dict[str, str]:
    return {
        **dict.fromkeys(TRUE, "supported"),
        **dict.fromkeys(FALSE, false),
        **dict.fromkeys(UNKNOWN, "not_enough_info"),
    }


def words(text: str) -> str:
    """The words of a page or of a quote, without the marks of a wiki."""
    return " ".join(re.findall(r"\w+", text))


async def test_ten_claims_get_the_right_verdicts_with_true_quotes(wiki_api: str) -> None:
    judge = ScriptedJudge(reads)
    async with Adapters([MediaWikiAdapter(wiki_api)]) as adapters:
        report = await EvidenceChecker(adapters, judge.model).check(TEXT)
    assert statuses(report.verdicts) == expected(false="contradicted")
    assert report.degraded == ()
    for verdict in report.verdicts:
        assert TEXT[verdict.claim.start : verdict.claim.end] == verdict.claim.text
        for evidence in verdict.evidence:
            assert evidence.url.startswith("http://127.0.0.1:")
            assert evidence.published is not None
            assert evidence.retrieved_at is not None
            page = (PAGES / f"{evidence.title.replace(' ', '_')}.wiki").read_text("utf-8")
            assert words(evidence.quote) in words(page)
        if verdict.verdict in {"supported", "contradicted"}:
            assert verdict.evidence[0].quote


async def test_what_is_contradicted_is_corrected_and_the_final_text_passes(wiki_api: str) -> None:
    judge = ScriptedJudge(reads)
    async with Adapters([MediaWikiAdapter(wiki_api)]) as adapters:
        result = await improve(
            TEXT,
            model=ScriptedModel(lines=[correct]),
            judge_model=judge.model,
            validators=[{"type": "evidence"}],
            critics=[CONTENT],
            adapters=adapters,
            look_back=0,
        )
    assert (result.status, result.stop_reason) == ("done", "passed"), result.run.error
    assert result.text == CORRECTED
    first, last = (t.validation_results["evidence"] for t in result.run.thoughts)
    assert [issue.quote for issue in first.issues if issue.severity == 5] == list(FALSE)
    assert (first.passed, first.score, last.passed) == (False, 0.7, True)
    assert {v.verdict for v in verdicts_in(last.details)} == {"supported", "not_enough_info"}
    fresh = [v.claim.text for v in verdicts_in(last.details) if not v.reused]
    assert len(fresh) == 3, "only what was corrected is checked again"


async def test_sources_that_disagree_make_a_claim_mixed(wiki_api: str) -> None:
    claim = "Of the people on board the steamship Halcyon Grace 31 people died."

    def says(_criterion: str, _claim: str, document: str) -> dict[str, Any]:
        for quote, judgement in (
            ("31 died and 58 were saved", "support"),
            ("34 people died", "reject"),
        ):
            if quote in document:
                told = {"judgement": judgement, "contradicts": judgement == "reject"}
                return {"quotes": [quote], **told}
        return {"judgement": "insufficient_information"}

    def reads_numbers(asked: Any) -> Any:
        return judgements(asked.question, says)

    async with Adapters([MediaWikiAdapter(wiki_api)]) as adapters:
        checker = EvidenceChecker(adapters, ScriptedJudge(reads_numbers).model)
        report = await checker.check(claims=[claim])
    (verdict,) = report.verdicts
    assert verdict.verdict == "mixed"
    assert {e.title: e.stance for e in verdict.evidence[:2]} == {
        "Hask Maritime Museum": "contradicts",
        "SS Halcyon Grace": "supports",
    }


async def test_without_a_model_evidence_is_ranked_without_figures(wiki_api: str) -> None:
    async with Adapters([MediaWikiAdapter(wiki_api)]) as adapters:
        result = await improve(
            TEXT,
            model="editor",
            validators=[{"type": "evidence"}],
            critics=[CONTENT],
            adapters=adapters,
        )
    found = result.run.thoughts[0].validation_results["evidence"]
    assert (found.passed, result.text) == (False, TEXT)
    verdicts = verdicts_in(found.details)
    decided = [each.claim.text for each in verdicts if each.verdict != "unverified"]
    assert decided == [FALSE[2]], "the same sentence has another number"
    stances = {e.stance for each in verdicts if each.verdict == "unverified" for e in each.evidence}
    assert stances == {"unjudged"}
    by_claim = {verdict.claim.text: verdict for verdict in verdicts}
    for claim in (*TRUE, *FALSE):
        evidence = by_claim[claim].evidence
        assert evidence, claim
        scores = [each.score or 0.0 for each in evidence]
        assert scores == sorted(scores, reverse=True)
    assert by_claim[TRUE[0]].evidence[0].title == "Gannet Head Lighthouse"
