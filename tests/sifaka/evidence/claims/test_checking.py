"""Claims held against evidence."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from sifaka.calls.context import Calls
from sifaka.calls.host import Suspended
from sifaka.calls.ledger import Ledger
from sifaka.errors import ConfigurationError, ModelProviderError, SourceError, StorageError
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.claims.extraction import claims_given
from sifaka.evidence.sources.collection import NONE, Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.evidence.verify import NO_MODEL
from sifaka.record.claims import CheckOptions, ClaimReport, ClaimVerdict, Judgement
from sifaka.record.thought import Document
from sifaka.record.usage import Budget, Usage
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge
from tests.sifaka.evidence.claims.reader import reads, second_question
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, long_page, page
from tests.stubs.judged_documents import documents_in, judgements

pytestmark = pytest.mark.anyio

HEIGHT = page("height", "The tower is 330 metres high. It stands by the river.")
YEAR = page("year", "The tower was opened in 1889.", published=datetime(2024, 5, 1, tzinfo=UTC))
OTHER_YEAR = page("other", "The tower was opened in 1890.")
SHIP = page("ship", "A ship sails to the tower every morning.")
TOWER = "The tower is 330 metres high."
OPENED = "The tower was opened in 1889."
WRONG = "The tower was opened in 1901."
VERBATIM = "It has four legs of iron."
UNKNOWN = "The tower has 12 lifts for visitors."
HALLS = [letter * 4 for letter in "abcdefghijklmnopqrstuvw"]


def sources(*pages: Any) -> Adapters:
    return Adapters([InProcessAdapter(pages, name="shelf")])


async def checked(
    places: Adapters, *claims: str, judge: ScriptedJudge | None = None, **options: Any
) -> ClaimReport:
    checker = EvidenceChecker(places, None if judge is None else judge.model)
    return await checker.check(claims=claims, options=CheckOptions(**options))


def statuses(report: ClaimReport) -> list[str]:
    return [verdict.verdict for verdict in report.verdicts]


async def test_claims_are_supported_contradicted_mixed_or_without_information() -> None:
    adapters = sources(HEIGHT, YEAR, OTHER_YEAR, SHIP)
    report = await checked(adapters, TOWER, OPENED, UNKNOWN, judge=ScriptedJudge(reads))
    assert statuses(report) == ["supported", "mixed", "not_enough_info"]
    wrong = await checked(sources(HEIGHT, YEAR), WRONG, judge=ScriptedJudge(reads))
    assert statuses(wrong) == ["contradicted"]
    assert report.degraded == ()


async def test_every_verdict_carries_source_date_and_a_quote_that_is_in_the_source() -> None:
    report = await checked(sources(HEIGHT, YEAR), WRONG, TOWER, judge=ScriptedJudge(reads))
    wrong, tower = (verdict.evidence[0] for verdict in report.verdicts)
    assert (wrong.stance, wrong.quote) == ("contradicts", "The tower was opened in 1889.")
    assert (wrong.title, wrong.url, wrong.adapter) == (YEAR.title, YEAR.url, "shelf")
    assert wrong.published == YEAR.published
    assert wrong.retrieved_at is not None
    assert wrong.score is not None
    assert (tower.stance, tower.quote) == ("supports", "The tower is 330 metres high.")


def judged(judgement: str, quote: str = "", *, contradicts: bool = False) -> Any:
    def script(asked: Asked) -> Answer:
        answer = {"criterion": "claim-1", "judgement": judgement, "contradicts": contradicts}
        return {"judgements": [{**answer, "quotes": [quote] if quote else []}]}

    return ScriptedJudge(script)


async def test_reject_splits_into_contradicts_and_off_topic_and_off_topic_never_refutes() -> None:
    off_topic = await checked(sources(YEAR), WRONG, judge=judged("reject", YEAR.text))
    against = judged("reject", YEAR.text, contradicts=True)
    contrary = await checked(sources(YEAR), WRONG, judge=against)
    for report, status, stance in (
        (off_topic, "not_enough_info", "off_topic"),
        (contrary, "contradicted", "contradicts"),
    ):
        (verdict,) = report.verdicts
        assert (verdict.verdict, verdict.evidence[0].stance) == (status, stance)
    assert not off_topic.blocking
    assert contrary.blocking


async def test_a_quote_that_is_not_in_the_source_supports_and_refutes_nothing() -> None:
    for judgement in ("support", "somewhat_support", "reject"):
        judge = judged(judgement, "The tower was opened in 1901 at last.", contradicts=True)
        (verdict,) = (await checked(sources(YEAR), WRONG, judge=judge)).verdicts
        assert (verdict.verdict, verdict.evidence[0].stance) == ("not_enough_info", "insufficient")
        assert verdict.reason == "what was quoted for it is not in the document"
        assert verdict.evidence[0].quote == ""


async def test_support_in_part_is_not_enough_and_takes_nothing_from_a_contradiction() -> None:
    partly = await checked(sources(YEAR), WRONG, judge=judged("somewhat_support", YEAR.text))
    assert statuses(partly) == ["not_enough_info"]
    assert partly.verdicts[0].reason == "the documents support it in part only"

    def says(_criterion: str, _claim: str, document: str) -> Mapping[str, Any]:
        text = YEAR.text if YEAR.text in document else OTHER_YEAR.text
        judgement = "somewhat_support" if text == YEAR.text else "reject"
        return {"judgement": judgement, "contradicts": judgement == "reject", "quotes": [text]}

    judge = ScriptedJudge(lambda asked: judgements(asked.question, says))
    both = await checked(sources(YEAR, OTHER_YEAR), WRONG, judge=judge)
    stances = sorted(each.stance for each in both.verdicts[0].evidence)
    assert stances == ["contradicts", "somewhat_supports"]
    assert statuses(both) == ["contradicted"]


async def test_nothing_found_is_not_enough_information() -> None:
    report = await checked(sources(HEIGHT), "Grass grows.", judge=ScriptedJudge(reads))
    (verdict,) = report.verdicts
    assert (verdict.verdict, verdict.evidence) == ("not_enough_info", ())
    assert verdict.reason == "nothing was found about it"


async def test_a_search_that_failed_is_told_and_a_claim_is_unverified_when_every_one_has() -> None:
    down = ScriptedAdapter(SourceError("wiki does not answer", adapter="wiki"), name="wiki")
    report = await checked(Adapters([down]), TOWER, judge=ScriptedJudge(reads))
    assert statuses(report) == ["unverified"]
    assert report.verdicts[0].reason == "the search failed: wiki: wiki does not answer"
    adapters = Adapters([down, InProcessAdapter([HEIGHT], name="shelf")])
    partly = await checked(adapters, TOWER, judge=ScriptedJudge(reads))
    assert statuses(partly) == ["supported"]
    assert report.degraded == partly.degraded == ("wiki: wiki does not answer",)


async def test_without_a_model_evidence_is_ranked_with_its_nearest_passage_and_unjudged() -> None:
    painted = "The tower by the river was painted 19 times."
    told = "The tower was painted brown."
    long = page("tower", f"{'Words of no use. ' * 80}\n\n{told}\n\n{'More words. ' * 80}")
    checker = EvidenceChecker(sources(SHIP, YEAR, long), None)
    report = await checker.check(f"{painted} Nice, is it not?")
    (verdict,) = report.verdicts
    assert (verdict.verdict, verdict.claim.quote) == ("unverified", painted)
    assert {each.stance for each in verdict.evidence} == {"unjudged"}
    (found,) = (each for each in verdict.evidence if each.title == long.title)
    assert told in found.quote
    assert found.quote in long.text
    scores = [each.score or 0 for each in verdict.evidence]
    assert scores == sorted(scores, reverse=True)
    (line,) = report.degraded
    assert line == f"{NO_MODEL}: the evidence is ranked, and judged by rules alone"
    assert verdict.reason == NO_MODEL
    assert report.usage.model_calls == 0


async def test_given_documents_are_held_against_claims_without_any_adapter() -> None:
    documents = [Document(text=HEIGHT.text, title="Mine", url="https://mine.example/1")]
    judge = ScriptedJudge(reads)
    checker = EvidenceChecker(NONE, judge.model)
    report = await checker.check(claims=[TOWER], documents=documents)
    (evidence,) = report.verdicts[0].evidence
    assert (evidence.adapter, evidence.title, evidence.stance) == ("given", "Mine", "supports")
    only = EvidenceChecker(sources(OTHER_YEAR), judge.model)
    report = await only.check(
        claims=[OPENED], documents=documents, options=CheckOptions(search=False)
    )
    assert [each.title for each in report.verdicts[0].evidence] == ["Mine"]


async def test_of_many_given_documents_those_nearest_to_a_claim_are_judged() -> None:
    documents = [Document(text=f"Room {n} has {n} chairs of oak.") for n in range(30)]
    judge = ScriptedJudge(reads)
    checker = EvidenceChecker(NONE, judge.model)
    claim = "The tower is 330 metres high and has chairs."
    report = await checker.check(
        claims=[claim],
        documents=[*documents, Document(text=HEIGHT.text, title="Height")],
        options=CheckOptions(max_documents=2),
    )
    (asked,) = judge.asked
    assert len(documents_in(asked.question)) == 2
    assert "Height" in [each.title for each in report.verdicts[0].evidence]


@pytest.mark.parametrize(
    ("adapters", "options", "message"),
    [
        (NONE, {}, "no adapter is configured, so there is nothing to search"),
        (NONE, {"adapters": ("wiki",)}, "no adapter is configured, so there is nothing to search"),
        (NONE, {"search": False}, "there are no documents to hold the claims against"),
        (sources(YEAR), {"adapters": ("wiki",)}, "unknown adapter 'wiki'"),
        (sources(YEAR), {"search": False}, "there are no documents to hold the claims against"),
        (sources(YEAR), {"since": "2025-01-01", "until": "2024-01-01"}, "is not before until"),
    ],
)
async def test_what_cannot_be_checked_is_refused_in_one_line(
    adapters: Adapters, options: Mapping[str, Any], message: str
) -> None:
    judge = ScriptedJudge(reads)
    with pytest.raises(ConfigurationError, match=message) as refused:
        await checked(adapters, TOWER, judge=judge, **options)
    assert "\n" not in str(refused.value)
    assert judge.calls == 0


async def test_empty_and_endless_claims_are_refused_and_an_empty_text_has_none() -> None:
    for claim, message in (("  ", r"claims\[0\] is empty"), ("x" * 3_000, "3,000 characters")):
        with pytest.raises(ConfigurationError, match=message):
            await checked(sources(YEAR), claim)
    report = await EvidenceChecker(sources(YEAR), None).check("  ")
    assert report.verdicts == ()


async def test_claims_of_a_text_are_found_at_their_words_and_duplicates_merged() -> None:
    text = f"Look:  “{OPENED}” {TOWER} Indeed. {VERBATIM}"

    def script(asked: Asked) -> Answer:
        if "claims" not in asked.fields:
            return reads(asked)
        return {
            "claims": [
                {"quote": "The tower is 330  metres high", "claim": TOWER, "need": 0.5},
                {"quote": '"The tower was opened in 1889."', "claim": OPENED, "need": 0.9},
                {"quote": "", "claim": TOWER.upper(), "need": 0.8},
                {"quote": "no such words anywhere", "claim": WRONG, "need": 0.9},
                {"quote": "no such words either", "claim": VERBATIM, "need": 0.9},
                {"quote": "Indeed", "claim": "Indeed so it is.", "need": 0.1},
            ]
        }

    checker = EvidenceChecker(sources(HEIGHT, YEAR), ScriptedJudge(script).model)
    report = await checker.check(text)
    claims = [verdict.claim for verdict in report.verdicts]
    assert [claim.text for claim in claims] == [OPENED, TOWER, VERBATIM, WRONG]
    places = [text[claim.start : claim.end] for claim in claims[:3]]
    assert places == [f"“{OPENED}”", TOWER[:-1], VERBATIM]
    assert [claim.quote for claim in claims[:3]] == places
    assert (claims[3].start, claims[1].need) == (None, 0.8)


async def test_given_claims_get_their_place_in_the_text_where_they_stand_verbatim() -> None:
    checker = EvidenceChecker(sources(HEIGHT), None)
    report = await checker.check(f"So: {TOWER}", claims=[TOWER, OPENED])
    found = [(v.claim.start, v.claim.end, v.claim.quote) for v in report.verdicts]
    assert found == [(4, 4 + len(TOWER), TOWER), (None, None, "")]


async def test_of_too_many_claims_those_that_need_evidence_most_are_checked() -> None:
    text = "Ida Thorsby built the tower. The tower is 330 metres high."
    report = await EvidenceChecker(sources(HEIGHT), None).check(
        text, options=CheckOptions(max_claims=1)
    )
    ida, tower = report.verdicts
    assert ida.reason == "it was not checked: others need evidence more"
    assert tower.evidence
    assert report.degraded[0] == "1 further claims were not checked"


async def test_when_the_extraction_fails_claims_are_taken_by_rules() -> None:
    def script(asked: Asked) -> Answer:
        if "claims" in asked.fields:
            return ModelProviderError("refused", error_code="rejected")
        return reads(asked)

    checker = EvidenceChecker(sources(HEIGHT), ScriptedJudge(script).model)
    report = await checker.check(TOWER)
    assert statuses(report) == ["supported"]
    assert report.degraded == ("claims were taken from the text by rules: refused",)


async def test_two_checks_at_once_on_one_instance_share_neither_verdicts_nor_accounts() -> None:
    judge = ScriptedJudge(reads)
    checker = EvidenceChecker(sources(HEIGHT, YEAR), judge.model)
    reports: dict[str, ClaimReport] = {}
    ledgers = {claim: Ledger(Budget(max_calls=9), Usage()) for claim in (TOWER, WRONG)}

    async def check(claim: str) -> None:
        with Calls(ledger=ledgers[claim]).active():
            reports[claim] = await checker.check(claims=[claim])

    async with anyio.create_task_group() as group:
        for claim in ledgers:
            group.start_soon(check, claim)
    assert [statuses(reports[claim]) for claim in ledgers] == [["supported"], ["contradicted"]]
    for claim, ledger in ledgers.items():
        assert reports[claim].usage.model_calls == ledger.spent.model_calls > 0
    assert judge.calls == sum(ledger.spent.model_calls for ledger in ledgers.values())


async def test_a_spent_budget_leaves_claims_unverified_and_makes_no_further_call() -> None:
    judge = ScriptedJudge(reads)
    ledger = Ledger(Budget(max_calls=2), Usage())
    pages = (long_page("height", HEIGHT.text), long_page("year", YEAR.text))
    checker = EvidenceChecker(sources(*pages), judge.model)
    with Calls(ledger=ledger).active():
        report = await checker.check(f"{TOWER} {OPENED}", options=CheckOptions(max_documents=1))
    assert judge.calls == ledger.spent.model_calls == report.usage.model_calls == 2
    assert sorted(statuses(report)) == ["supported", "unverified"]
    assert any("budget of calls is spent" in line for line in report.degraded)


@pytest.mark.parametrize("error", [StorageError("the disk is full"), Suspended({})])
async def test_storage_errors_and_suspensions_pass_through(error: BaseException) -> None:
    def fails(_query: str) -> Sequence[Any]:
        raise error

    with pytest.raises(type(error)):
        await checked(Adapters([ScriptedAdapter(fails)]), TOWER, judge=ScriptedJudge(reads))


class TestReuse:
    NOW = datetime(2026, 3, 1, tzinfo=UTC)

    async def verdict(
        self,
        adapters: Adapters,
        claim: str = TOWER,
        *,
        judge: ScriptedJudge,
        at: datetime = NOW,
        documents: Sequence[Document] = (),
        **options: Any,
    ) -> ClaimVerdict:
        checker = EvidenceChecker(adapters, judge.model, clock=lambda: at)
        report = await checker.check(
            claims=[claim], documents=documents, options=CheckOptions(**options)
        )
        return report.verdicts[0]

    async def test_an_unchanged_claim_costs_no_further_call(self) -> None:
        judge, adapters = ScriptedJudge(reads), sources(HEIGHT)
        first = await self.verdict(adapters, judge=judge)
        again = await self.verdict(adapters, f" {TOWER.upper()[:-1]}", judge=judge)
        assert (first.reused, again.reused, judge.calls) == (False, True, 1)
        assert (again.verdict, again.evidence) == (first.verdict, first.evidence)
        assert again.checked_at == first.checked_at

    async def test_a_verdict_is_not_taken_again_when_it_is_too_old(self) -> None:
        judge, adapters = ScriptedJudge(reads), sources(HEIGHT)
        await self.verdict(adapters, judge=judge)
        later = self.NOW + timedelta(seconds=60)
        for age, reused in ((61, True), (60, False)):
            verdict = await self.verdict(adapters, judge=judge, at=later, max_age_seconds=age)
            assert verdict.reused is reused, age
        assert not (await self.verdict(adapters, judge=judge, at=later, max_age_seconds=0)).reused

    async def test_other_words_sources_filters_documents_or_models_need_another_verdict(
        self,
    ) -> None:
        judge, adapters = ScriptedJudge(reads), sources(HEIGHT)
        await self.verdict(adapters, judge=judge)
        others: list[dict[str, Any]] = [
            {"claim": WRONG},
            {"documents": [Document(text="It is low.")]},
            {"documents": [Document(text="It is low.", metadata={"published": "2020-01-01"})]},
            {"sites": ("example.org",)},
            {"max_documents": 3},
            {"judge": ScriptedJudge(reads, name="another")},
        ]
        for other in others:
            arguments: dict[str, Any] = {"judge": judge, **other}
            verdict = await self.verdict(adapters, **arguments)
            assert not verdict.reused, other
        more = Adapters([InProcessAdapter([HEIGHT, YEAR], name="shelf")])
        more.verdicts = adapters.verdicts
        assert not (await self.verdict(more, judge=judge)).reused

    async def test_what_a_failure_has_decided_is_tried_again(self) -> None:
        adapters = sources(HEIGHT)
        failing = ScriptedJudge(ModelProviderError("refused", error_code="rejected"))
        assert (await self.verdict(adapters, judge=failing)).verdict == "unverified"
        verdict = await self.verdict(adapters, judge=ScriptedJudge(reads))
        assert (verdict.verdict, verdict.reused) == ("supported", False)


def test_claims_that_differ_in_the_case_of_a_unit_are_two() -> None:
    given = ["The plant gives 5 MW.", "The plant gives 5 mW.", "the Plant gives  5 MW"]
    assert [claim.text for claim in claims_given(given)] == given[:2]


async def test_a_text_that_was_checked_before_costs_no_call() -> None:
    judge, adapters = ScriptedJudge(reads), sources(HEIGHT)
    text = f"{TOWER} {OPENED}"
    first = await EvidenceChecker(adapters, judge.model).check(text)
    made = judge.calls
    again = await EvidenceChecker(adapters, judge.model).check(text)
    assert (judge.calls, again.usage.model_calls) == (made, 0)
    assert [each.verdict for each in again.verdicts] == [each.verdict for each in first.verdicts]
    fresh = CheckOptions(max_age_seconds=0)
    await EvidenceChecker(adapters, judge.model).check(text, options=fresh)
    assert judge.calls == 2 * made
    await EvidenceChecker(adapters, judge.model).check(f"{text} ")
    assert judge.calls > 2 * made, "other words may make other claims"


async def test_ten_claims_over_three_short_documents_are_one_question_and_a_second_one() -> None:
    judge = ScriptedJudge(reads)
    rooms = [f"The {name} hall has {n} chairs." for n, name in enumerate(HALLS[:7], 1)]
    adapters = sources(HEIGHT, YEAR, page("rooms", " ".join(rooms)))
    claims = (TOWER, OPENED, WRONG, *rooms)
    report = await checked(adapters, *claims, judge=judge, checks="double")
    assert len(report.verdicts) == 10
    assert judge.calls == report.usage.model_calls == 2
    first, second = judge.asked
    assert len(documents_in(first.question)) == 3
    asked = [name for name, _, _ in second_question(second.question)]
    assert asked == [str(n) for n in range(1, 10)]
    assert statuses(report) == ["supported", "supported", "contradicted", *["supported"] * 7]


async def test_more_than_twenty_claims_are_asked_about_again_in_two_questions() -> None:
    judge = ScriptedJudge(reads)
    rooms = [f"The {name} hall has {n} chairs." for n, name in enumerate(HALLS, 1)]
    adapters = sources(page("rooms", " ".join(rooms)))
    report = await checked(adapters, *rooms, judge=judge, checks="double", max_claims=23)
    assert statuses(report) == ["supported"] * 23
    assert [len(second_question(each.question)) for each in judge.asked[1:]] == [20, 3]


BRIDGE = Document(
    title="Bridge",
    text="The bridge was opened in 1913. Four of the six piers were renewed. It may be closed.",
)


async def judged_by_caller(
    *judgements: Judgement, judge: ScriptedJudge | None = None
) -> ClaimReport:
    checker = EvidenceChecker(NONE, None if judge is None else judge.model)
    claims = ("All piers were renewed.", "It opened in 1914.", "The bridge may be closed.")
    options = CheckOptions(search=False)
    return await checker.check(
        claims=claims, documents=[BRIDGE], options=options, judgements=judgements
    )


async def test_the_caller_judges_claims_by_quotes_that_are_looked_up() -> None:
    some = Judgement(claim="1", verdict="contradicted", quote="Four of the six piers were renewed")
    year = Judgement(
        claim="It opened in 1914.", verdict="supported", quote="The bridge was opened in 1913."
    )
    open_ = Judgement(claim="3", verdict="not_enough_info")
    report = await judged_by_caller(some, year, open_)
    assert statuses(report) == ["contradicted", "in_doubt", "not_enough_info"]
    assert "confirmed=true" in report.verdicts[1].reason
    assert report.verdicts[0].evidence[0].quote == "Four of the six piers were renewed."
    again = await judged_by_caller(year.model_copy(update={"confirmed": True}))
    assert statuses(again) == ["unverified", "supported", "unverified"]
    assert again.verdicts[1].evidence[0].flag


async def test_a_quote_of_the_caller_that_is_in_no_source_decides_nothing() -> None:
    made_up = Judgement(claim="1", verdict="supported", quote="All six piers were renewed")
    report = await judged_by_caller(made_up, made_up.model_copy(update={"claim": "2", "quote": ""}))
    assert statuses(report) == ["unverified"] * 3
    assert report.verdicts[0].reason == "the quote given for it is in none of its sources"
    with pytest.raises(ConfigurationError, match="no claim is '4'"):
        await judged_by_caller(Judgement(claim="4", verdict="not_enough_info"))


async def test_no_model_is_asked_about_what_the_caller_has_judged() -> None:
    judge = ScriptedJudge(reads)
    said = [Judgement(claim=str(n), verdict="not_enough_info") for n in (1, 2, 3)]
    report = await judged_by_caller(*said, judge=judge)
    assert (judge.calls, statuses(report)) == (0, ["not_enough_info"] * 3)


async def test_a_document_that_comes_by_four_addresses_counts_once() -> None:
    text = f"{HEIGHT.text} It was built in two years by a company of the town, and painted red."
    addresses = ("https://a.example/tower", "http://www.a.example/tower/?utm_source=x",
                 "https://mirror.example/9", "")  # fmt: skip
    documents = [Document(text=text, title="Tower", url=url) for url in addresses]
    judge = ScriptedJudge(reads)
    checker = EvidenceChecker(NONE, judge.model)
    options = CheckOptions(search=False)
    report = await checker.check(claims=[TOWER], documents=documents, options=options)
    assert (judge.calls, len(report.verdicts[0].evidence)) == (1, 1)
    assert report.verdicts[0].evidence[0].url == addresses[0]
