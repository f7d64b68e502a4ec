"""A critic that reads a long text section by section."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sifaka import Thought
from sifaka.calls.component import Binding
from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.chain.configuration import Resources
from sifaka.chain.parts import bind_parts
from sifaka.critics import LintCritic, NCriticsCritic, SelfRefineCritic
from sifaka.critics.execution import SectionedCritic, run_critics
from sifaka.critics.protocol import CriticComponent
from sifaka.errors import ModelProviderError
from sifaka.models.provider import provider_model
from sifaka.record.entries import ChainConfig
from sifaka.record.results import CriticFeedback
from sifaka.record.usage import Budget, Usage
from tests.stubs.long_documents import SECTION_CHARS, Answer, SectionProvider, document, title_of

pytestmark = pytest.mark.anyio

NAMES = ("Alpha", "Beta", "Gamma", "Delta")
TEXT = document(*NAMES)
FINE: Mapping[str, Any] = {"verdict": "accept", "scores": {"clear": 1.0}}
DOWN = ModelProviderError("the provider is down", error_code="server")


def by_title(answers: Mapping[str, Answer]) -> Callable[[str], Answer]:
    return lambda text: answers.get(title_of(text), FINE)


def critic(provider: SectionProvider, kind: Any = SelfRefineCritic) -> CriticComponent:
    opened = kind().bind(Binding(model=provider_model(provider.model)))
    return SectionedCritic(opened, SECTION_CHARS)


async def heard(answers: Mapping[str, Answer], *, text: str = TEXT) -> CriticFeedback:
    provider = SectionProvider(judges=by_title(answers))
    return await critic(provider).critique(Thought(text=text))


async def test_sections_are_shown_by_themselves_with_the_outline_and_a_short_text_whole() -> None:
    provider = SectionProvider()
    await critic(provider).critique(Thought(text=TEXT))
    assert sorted(title_of(text) for text in provider.judged) == sorted(NAMES)
    assert all("Handbook\n  Alpha\n  Beta" in question for question in provider.questions)
    assert all("of 4 of a longer document" in question for question in provider.questions)
    provider = SectionProvider()
    text = TEXT[:SECTION_CHARS]
    await critic(provider).critique(Thought(text=text))
    assert provider.judged == [text]
    assert "longer document" not in provider.questions[0]


async def test_issues_are_where_they_stand_in_the_whole_text() -> None:
    issue = {"quote": "the gamma does", "message": "vague", "severity": 4}
    feedback = await heard({"Gamma": {"verdict": "revise", "issues": [issue]}})
    assert feedback.verdict == "revise"
    ((found,),) = (feedback.issues,)
    assert TEXT[found.start : found.end] == found.quote == "the gamma does"


async def test_remarks_without_a_place_begin_with_their_section() -> None:
    lost = {"quote": "never there at all", "message": "vague"}
    opinion = {"verdict": "revise", "issues": [lost], "suggestions": ["say more"]}
    feedback = await heard({"Beta": opinion, "Delta": {"verdict": "revise"}})
    assert [issue.message for issue in feedback.issues] == ["[section 2: Beta] vague"]
    assert feedback.suggestions == (
        "[section 2: Beta] say more",
        "[section 4: Delta] it needs a revision",
    )


async def test_scores_are_means_over_the_sections_and_all_accept_means_accept() -> None:
    feedback = await heard({"Beta": {"verdict": "accept", "scores": {"clear": 0.2}}})
    assert feedback.verdict == "accept"
    assert feedback.scores["clear"] == pytest.approx(0.8, abs=0.02)


async def test_sections_that_abstain_are_told_and_half_of_them_are_no_vote() -> None:
    issue = {"quote": "the gamma does", "message": "vague"}
    feedback = await heard({"Beta": DOWN, "Gamma": {"verdict": "revise", "issues": [issue]}})
    assert (feedback.status, feedback.verdict, len(feedback.issues)) == ("ok", "revise", 1)
    (line,) = feedback.degraded
    assert line.startswith("[section 2: Beta] was not judged: the provider is down")
    feedback = await heard(dict.fromkeys(NAMES, DOWN))
    assert (feedback.status, feedback.verdict) == ("abstained", None)
    assert feedback.reason is not None
    assert feedback.reason.startswith("the provider is down")
    assert feedback.details["code"] == "server"
    assert (await heard({"Alpha": DOWN, "Beta": DOWN})).status == "abstained"
    assert (await heard({"Alpha": DOWN})).status == "ok"
    revise = {"Alpha": DOWN, "Beta": DOWN, "Gamma": {"verdict": "revise"}}
    assert (await heard(revise)).verdict == "revise"


@pytest.mark.parametrize(("limit", "asked"), [(4, 4), (3, 0)])
async def test_there_is_room_for_all_sections_or_none_is_paid_for(limit: int, asked: int) -> None:
    provider = SectionProvider()
    calls = Calls(ledger=Ledger(Budget(max_calls=limit), Usage()))
    (feedback,) = await run_critics([critic(provider)], Thought(text=TEXT), calls)
    assert len(provider.judged) == asked
    assert (feedback.status == "ok") is (asked > 0)
    assert asked or feedback.details["limit"] == "calls"


async def test_where_there_is_room_for_one_of_two_critics_one_reads_all() -> None:
    provider = SectionProvider()
    calls = Calls(ledger=Ledger(Budget(max_calls=7), Usage()))
    said = await run_critics([critic(provider), critic(provider)], Thought(text=TEXT), calls)
    assert [feedback.status for feedback in said] == ["ok", "abstained"]
    assert len(provider.judged) == 4


async def test_every_member_of_a_panel_reads_every_section() -> None:
    provider = SectionProvider()
    panel = critic(provider, NCriticsCritic)
    feedback = await panel.critique(Thought(text=TEXT))
    assert len(provider.judged) == 4 * 4 == panel.calls(TEXT)
    assert panel.calls("short") == 4
    assert feedback.verdict == "accept"


def test_it_is_known_for_what_it_reads_with() -> None:
    sectioned = critic(SectionProvider())
    assert isinstance(sectioned, SectionedCritic)
    assert sectioned.models
    assert sectioned.models == sectioned.inner.models
    assert sectioned.name == "self_refine"


def test_a_critic_that_asks_no_model_reads_the_whole() -> None:
    model = provider_model(SectionProvider().model)
    both = (LintCritic(), SelfRefineCritic())
    for section_chars, kinds in {
        SECTION_CHARS: (LintCritic, SectionedCritic),
        None: (LintCritic, SelfRefineCritic),
    }.items():
        config, resources = ChainConfig(section_chars=section_chars), Resources(critics=both)
        critics = bind_parts(config, resources, [], Binding(model=model)).critics
        assert tuple(map(type, critics)) == kinds
