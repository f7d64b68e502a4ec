"""What is claimed, and who decides about it: rules, or a judge who is asked again."""

import json
from pathlib import Path
from typing import Any

import pytest

from sifaka.errors import ModelProviderError
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.claims.comparison import disagreement, judged_by_rule, sentence_near
from sifaka.evidence.claims.extraction import checkable, claims_by_rule
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.sources.collection import NONE
from sifaka.record.claims import CheckOptions, ClaimReport, ClaimVerdict, verdicts_in
from sifaka.record.thought import Document
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge
from tests.sifaka.evidence.claims.reader import second_question
from tests.stubs.cost import seconds

pytestmark = pytest.mark.anyio


def said(claim: str, *sentences: str, title: str = "") -> str:
    found = judged_by_rule(claim, SourceDocument(text=" ".join(sentences), title=title))
    return "" if found is None else found.stance


@pytest.mark.parametrize(
    ("claim", "sentence", "told"),
    [
        ("The museum is free on Sundays.", "The museum is free on Sundays.", "supports"),
        ("On Sundays the museum is free.", "The museum is free on Sundays.", "supports"),
        ("The vote was 5 to 7.", "The vote was 7 to 5.", ""),
        ("Dogs chase cats.", "Cats chase dogs.", ""),
        ("The museum is free.", "The museum is not free.", ""),
        ("The museum is free.", "Is the museum free?", ""),
        ("It fell to 5 degrees.", "It fell to -5 degrees.", ""),
        ("The bridge opened in 1931.", "The bridge opened in 1913.", "contradicts"),
        ("The bridge did not open in 1931.", "The bridge opened in 1913.", ""),
        ("The bridge opened in 1931.", "The bridge opened before 1935.", ""),
        ("It sold over 300 boats.", "It sold 312 boats.", ""),
        ("Work began in 1907.", "Work lasted from 1901 to 1907.", ""),
    ],
)
def test_without_a_model_only_the_same_words_and_another_figure_decide(
    claim: str, sentence: str, told: str
) -> None:
    assert said(claim, sentence) == told


def test_the_title_names_the_subject_of_a_sentence() -> None:
    claim, sentence = "The suspension bridge opened in 1931.", "The bridge opened in 1913."
    assert said(claim, sentence, title="The suspension bridge") == "contradicts"
    assert said(claim, sentence, title="Bridges") == ""
    assert said("The bridge never opened in 1931.", sentence, title="It never opened") == ""
    claim, *others = (f"The bridge opened in {year}." for year in (1931, 1913, 1925))
    assert said(claim, *others) == ""


def test_the_sentence_about_a_claim_is_found() -> None:
    page = SourceDocument(text="A ship sails. The bridge was planned in 1901. It rains.", title="")
    assert (
        sentence_near("The bridge was planned by Ann.", page) == "The bridge was planned in 1901."
    )
    assert sentence_near("Frogs sing.", page) == ""


@pytest.mark.parametrize(
    ("claim", "quoted", "agrees"),
    [
        ("It was built in 1888.", "It was built in 1889.", False),
        ("They sold 12,500 cars.", "They sold the 12\n500 cars.", True),
        ("It costs 14 €.", "It costs €15.", False),
        ("It costs 14 €.", "It costs €14.", True),
        ("The NC-7 may open.", "The NC-7 may open one day.", True),
        ("GPT-4 and Python 3.12 are used.", "They use Python 3.12 and GPT-4.", True),
        ("It opened in 1913.[1]", "It opened in 1913.", True),
    ],
)
def test_figures_of_claim_and_quote_are_compared_in_any_notation(
    claim: str, quoted: str, agrees: bool
) -> None:
    assert (disagreement(claim, quoted) == "") is agrees


def found(text: str) -> list[str]:
    return [each.quote for each in checkable(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The tower is 330 metres high.",
        "It was opened in March by the queen of Denmark.",
        "The bridge was designed by Ida Thorsby.",
        "About three million people live there.",
        "Башню построили в 1889 году.",
        "Мост спроектировала Ида Торсби.",
        "塔の高さは三百三十メートルです。",
        "这座塔建于1889年。",
        "بُني البرج عام ١٨٨٩ في باريس.",
        "यह मीनार १८८९ में बनी थी।",
    ],
)
def test_without_a_model_sentences_with_numbers_names_or_dates_are_claims(sentence: str) -> None:
    assert found(sentence) == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "How high is the tower in Paris, and was it built in 1889?",
        "Press the red button for 3 seconds.",
        "Please write to Ida Thorsby before 5 May.",
        "I think Paris is the loveliest city.",
        "The view is lovely in the evening.",
        "# The 10 towers of Paris",
        "The 10 towers of Paris\n======================",
        "```\nx = 1889  # The tower of Paris was built\n```",
        "~~~ python\nprint(1889, 'Paris was there')\n~~~",
        "| Tower | 330 m |\n|---|---|\n| Bridge of Paris | 12 m |",
        "There are 5 towers, " + "and one more, " * 200,
        "Visit https://example.org/2024/05 for more words.",
        "> The tower of Paris was built in 1889,\nby Ida Thorsby.",
        "---\ntitle: The tower of Paris\ndate: 1889-03-31\n---\n",
        "[1] Ida Thorsby, The towers of Paris, 1889, https://example.org/towers",
        "[^2]: Ida Thorsby, The towers of Paris, 1889, DOI 10.1000/182",
        "## References\n\nThorsby, I. (1889). The towers of Paris. Oxford University Press.",
        "**Bibliography:**\n- Thorsby: Towers, 1889",
        "",
    ],
)
def test_what_states_no_fact_in_the_author_s_own_words_is_no_claim(text: str) -> None:
    assert found(text) == []


def test_items_of_lists_and_soft_line_breaks_are_sentences_of_their_own() -> None:
    text = (
        "Facts:\n\n- The tower is 330\n  metres high\n- [x] It was *opened* in 1889\n1. Big in 2020"
    )
    assert found(text) == [
        "The tower is 330\n  metres high",
        "It was *opened* in 1889",
        "Big in 2020",
    ]
    assert [each.text for each in checkable(text)][:2] == [
        "The tower is 330 metres high",
        "It was opened in 1889",
    ]


def test_what_follows_references_or_is_about_sources_is_still_a_claim() -> None:
    text = "# References\n\nThorsby, Towers, 1889.\n\n# Sources\n\nThe Nile rises in Lake Tana."
    assert found(text) == ["The Nile rises in Lake Tana."]
    for claim in (
        "[1] says that Paris has 3 towers.",
        "[Paris](https://example.org) has 3 towers.",
    ):
        assert found(claim) == [claim]


@pytest.mark.slow
def test_very_many_headings_and_lists_of_references_are_read_in_little_time() -> None:
    text = "# A heading\n" * 20_000 + "References\n" * 20_000
    assert found(text) == []
    assert seconds(lambda: found(text)) < 5


def test_a_sentence_that_begins_with_a_pronoun_takes_the_one_before_along() -> None:
    text = "The tower stands in Paris. It was built in 1889."
    tower, built = claims_by_rule(text).claims
    assert built.text == "The tower stands in Paris. It was built in 1889."
    assert text[built.start : built.end] == built.quote == "It was built in 1889."
    assert tower.need < built.need, "a number needs evidence more than a name"


def test_sentences_of_other_languages_are_told_apart_and_their_capitals_are_no_names() -> None:
    assert found("Der Turm hat eine schöne Aussicht auf Fluss und Stadt.") == []
    assert found("Der Turm wurde von Ida Thorsby mit viel Mut entworfen.")
    assert found("这座塔建于1889年。它很漂亮！高度是330米。") == [
        "这座塔建于1889年。",
        "高度是330米。",
    ]


def test_the_same_sentence_twice_is_one_claim_and_very_many_are_bounded() -> None:
    assert len(claims_by_rule("The tower has 3 doors. The tower has 3 doors!").claims) == 1
    many = claims_by_rule(" ".join(f"The tower has {n} doors." for n in range(500)))
    assert len(many.claims) == 200
    assert many.degraded == ("300 further claims of the text were left out",)


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
    "confirms",
    [False, ModelProviderError("refused", error_code="rejected")],
    ids=["no", "no answer"],
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
