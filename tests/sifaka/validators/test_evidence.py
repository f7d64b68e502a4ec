"""The validator `evidence` by itself; what it does in runs is in the tests of claims."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sifaka.calls.component import Binding
from sifaka.calls.host import HostQuestion, Suspended
from sifaka.errors import ConfigurationError, StorageError
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.claims import CheckOptions, Claim, ClaimEvidence, ClaimReport, ClaimVerdict
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import EvidenceValidator, LengthValidator, parse_validators
from sifaka.validators.evidence import result_of
from sifaka.validators.execution import run_validators
from tests.sifaka.critics.scripted_judge import ScriptedJudge
from tests.sifaka.evidence.claims.reader import reads
from tests.sifaka.evidence.scripted_adapter import page

pytestmark = pytest.mark.anyio

TEXT = "It is 5 km long. It has 7 doors."


def verdict(status: Any, *evidence: ClaimEvidence, start: int | None = 0) -> ClaimVerdict:
    end = None if start is None else start + 16
    claim = Claim(text="It is 5 km long.", quote="It is 5 km long.", start=start, end=end)
    return ClaimVerdict(claim=claim, verdict=status, evidence=evidence, reason="so it is")


def says(stance: Any, quote: str, **fields: Any) -> ClaimEvidence:
    return ClaimEvidence(stance=stance, quote=quote, title="The Road", **fields)


def test_only_contradicted_and_mixed_block_and_weigh_most() -> None:
    told = [(s, verdict(s)) for s in ("contradicted", "mixed", "not_enough_info", "unverified")]
    report = ClaimReport(verdicts=(*[v for _, v in told], verdict("supported")))
    assert [(i.rule, i.severity) for i in result_of(report).issues] == [
        ("contradicted", 5),
        ("mixed", 4),
        ("not_enough_info", 2),
        ("unverified", 1),
    ]
    result = result_of(report)
    assert result.score == 3 / 5
    assert result.message == (
        "5 claims: 1 supported, 1 contradicted, 1 mixed, 1 not enough information, 1 unverified "
        "(so it is)"
    )


def test_an_issue_carries_quote_source_and_date_so_that_it_can_be_corrected() -> None:
    dated = says("contradicts", "It is 6 km long.", published=datetime(2024, 5, 1, tzinfo=UTC))
    (issue,) = result_of(ClaimReport(verdicts=(verdict("contradicted", dated),))).issues
    assert (issue.quote, issue.start, issue.category) == ("It is 5 km long.", 0, "evidence")
    assert issue.message == (
        "contradicted: It is 5 km long. Correct it: 'The Road' (2024-05-01) says 'It is 6 km long.'"
    )
    backing = says("supports", "It is 5 km long.", url="https://road.example")
    (issue,) = result_of(ClaimReport(verdicts=(verdict("mixed", dated, backing),))).issues
    assert "'The Road' (https://road.example) says 'It is 5 km long.'; 'The Road' (2024" in (
        issue.message
    )


def test_a_claim_whose_words_are_not_in_the_text_has_an_issue_without_a_place() -> None:
    (issue,) = result_of(ClaimReport(verdicts=(verdict("mixed", start=None),))).issues
    assert not issue.anchored


async def test_unbound_it_says_what_it_needs() -> None:
    validator = EvidenceValidator()
    with pytest.raises(ConfigurationError, match="nothing to check claims with"):
        await validator.validate(Thought(text=TEXT))
    (result,) = (await run_validators([validator], Thought(text=TEXT))).values()
    assert not result.passed
    assert "could not be run: 'evidence' was given nothing" in result.message


async def test_its_details_hold_every_verdict_with_its_evidence() -> None:
    adapters = Adapters([InProcessAdapter([page("road", "It is 6 km long.")], name="shelf")])
    checker = EvidenceChecker(adapters, ScriptedJudge(reads).model)
    result = await EvidenceValidator(checker=checker).validate(Thought(text=TEXT))
    told = result.model_dump(mode="json")["details"]
    assert [each["verdict"] for each in told["claims"]] == ["contradicted", "not_enough_info"]
    (evidence,) = told["claims"][0]["evidence"]
    assert (evidence["quote"], evidence["adapter"]) == ("It is 6 km long.", "shelf")
    assert evidence["url"] == "https://example.org/road"
    assert evidence["retrieved_at"]
    assert told["usage"]["model_calls"] == 2
    assert (result.passed, result.score) == (False, 0.5)


def test_only_the_checker_of_claims_searches() -> None:
    plain, evidence = LengthValidator(max_words=9), EvidenceValidator()
    checker: Any = EvidenceChecker(Adapters(), None)
    assert evidence.claim_checks == (("evidence", CheckOptions()),)
    bound = evidence.bind(Binding(checker=checker, search=False))
    assert bound.claim_checks == (("evidence", CheckOptions(search=False)),)
    assert evidence.bind(Binding(checker=checker)).checker is checker
    assert not plain.claim_checks
    assert plain.bind(Binding(checker=checker)) is plain


@pytest.mark.parametrize(
    ("option", "line"),
    [({"max_claims": 0}, "max_claims"), ({"adapter": "wiki"}, "unknown option 'adapter'")],
)
def test_a_wrong_option_is_one_clear_line(option: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigurationError, match=line):
        parse_validators([{"type": "evidence", **option}])


class Raising:
    """A validator that raises."""

    required = True

    def __init__(self, error: BaseException, name: str) -> None:
        self.error, self.name = error, name

    async def validate(self, thought: Thought) -> ValidationResult:
        raise self.error


async def test_storage_errors_and_suspensions_get_through_the_validators_at_once() -> None:
    def asks(key: str) -> Suspended:
        return Suspended({key: HostQuestion(instructions="", prompt="", max_tokens=1)})

    waiting = [Raising(asks("a"), "a"), LengthValidator(max_words=9), Raising(asks("b"), "b")]
    with pytest.raises(Suspended) as suspended:
        await run_validators(waiting, Thought(text=TEXT))
    assert set(suspended.value.questions) == {"a", "b"}
    with pytest.raises(StorageError, match="full"):
        await run_validators(
            [Raising(StorageError("the disk is full"), "c"), *waiting], Thought(text=TEXT)
        )
