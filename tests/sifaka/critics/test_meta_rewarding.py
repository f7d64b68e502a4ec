"""Meta-Rewarding: the judgment that a judge of judgments prefers."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sifaka.critics import MetaRewardingCritic
from sifaka.critics.meta_rewarding import bradley_terry, shortest_near_best
from sifaka.errors import ModelProviderError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge

pytestmark = pytest.mark.anyio

TEXT = "The tower is 300 metres high."
JUDGMENTS: list[dict[str, Any]] = [
    {"verdict": "accept", "suggestions": ["weak"]},
    {"verdict": "revise", "suggestions": ["best"]},
    {"verdict": "accept", "suggestions": ["fair"]},
]
RANK = {"weak": 0, "fair": 1, "best": 2}


def shown(asked: Asked) -> tuple[str, str]:
    """The judgments that stand first and second in a question."""
    first, _, second = asked.question.partition("<second id=")
    first = first.partition("<first id=")[2]
    return (
        next(name for name in RANK if name in first),
        next(name for name in RANK if name in second),
    )


def the_better(first: str, second: str) -> str:
    return "first" if RANK[first] > RANK[second] else "second"


async def judge(
    prefers: Callable[[str, str], str | Exception], judgments: list[Answer] | None = None
) -> CriticFeedback:
    given = judgments or list[Answer](JUDGMENTS)

    def script(asked: Asked) -> Answer:
        if "better" not in asked.fields:
            return given[asked.number]
        preferred = prefers(*shown(asked))
        return preferred if isinstance(preferred, Exception) else {"better": preferred}

    critic = MetaRewardingCritic(n=len(given)).bind(ScriptedJudge(script).binding)
    return await critic.critique(Thought(text=TEXT))


def details(feedback: CriticFeedback) -> Mapping[str, Any]:
    return feedback.model_dump()["details"]


async def test_the_judgment_that_wins_its_comparisons_gives_the_verdict() -> None:
    feedback = await judge(the_better)
    assert feedback.verdict == "revise"
    told = details(feedback)
    assert told["judgments"] == ["accept", "revise", "accept"]
    assert told["chosen"] == 1
    weak, best, fair = told["strengths"]
    assert best > fair > weak
    assert (told["pairs_split_by_order"], told["first_slot_share"]) == (0, 0.5)
    assert feedback.usage.model_calls == 9


async def test_what_the_other_judgments_found_is_kept() -> None:
    height = {"quote": "300 metres", "message": "The height is wrong.", "category": "facts"}
    which = {"quote": "The tower", "message": "Which one?", "severity": 2}
    feedback = await judge(
        the_better,
        [
            {"verdict": "accept", "suggestions": ["weak"], "issues": [height], "scores": {"a": 1}},
            {"verdict": "revise", "suggestions": ["best"], "issues": [which], "scores": {"a": 0}},
            {"verdict": "accept", "suggestions": ["fair"], "issues": [height], "scores": {"a": 1}},
        ],
    )
    assert (feedback.verdict, dict(feedback.scores)) == ("revise", {"a": 0.0}), "of the chosen one"
    assert [(i.message, i.support) for i in feedback.issues] == [
        ("Which one?", 1),
        ("The height is wrong.", 2),
    ]
    assert feedback.suggestions == ("best", "weak", "fair"), "the chosen one's come first"


async def test_no_judgment_is_asked_for_twice() -> None:
    scripted = ScriptedJudge(
        lambda a: {"better": "first"} if "better" in a.fields else JUDGMENTS[0]
    )
    await MetaRewardingCritic().bind(scripted.binding).critique(Thought(text=TEXT))
    judgments = [each for each in scripted.asked if "verdict" in each.fields]
    assert len({each.question for each in judgments}) == 3
    assert [each.settings["temperature"] for each in judgments] == [0.7] * 3


async def test_a_judge_that_prefers_what_stands_first_decides_nothing() -> None:
    feedback = await judge(lambda first, second: "first")
    told = details(feedback)
    assert told["strengths"] == pytest.approx([1 / 3] * 3, abs=1e-3)
    assert (told["pairs_split_by_order"], told["first_slot_share"]) == (3, 1.0)


async def test_of_equal_judgments_the_shortest_near_the_best_is_taken() -> None:
    long = {"verdict": "revise", "suggestions": ["weak " * 20]}
    short = {"verdict": "accept", "suggestions": ["fair"]}
    feedback = await judge(lambda first, second: "first", [long, short])
    assert (feedback.verdict, details(feedback)["chosen"]) == ("accept", 1)
    assert shortest_near_best([0.5, 0.4, 0.1], [300, 200, 10]) == 1
    assert shortest_near_best([0.6, 0.3, 0.1], [300, 200, 10]) == 0
    assert shortest_near_best([0.5, 0.5], [10, 10]) == 0


async def test_comparisons_that_fail_count_for_nobody() -> None:
    failure = ModelProviderError("refused", error_code="rejected")
    feedback = await judge(lambda first, second: failure)
    assert feedback.status == "ok"
    assert details(feedback)["first_slot_share"] is None
    assert len(feedback.degraded) == 6


async def test_a_pair_of_which_one_order_failed_is_a_draw() -> None:
    failure = ModelProviderError("refused", error_code="rejected")

    def prefers(first: str, second: str) -> str | Exception:
        return "first" if (first, second) == ("weak", "best") else failure

    told = details(await judge(prefers, list[Answer](JUDGMENTS[:2])))
    assert told["strengths"] == [0.5, 0.5]


async def test_one_judgment_is_left_when_the_others_fail() -> None:
    failure = ModelProviderError("refused", error_code="rejected")
    feedback = await judge(the_better, [failure, JUDGMENTS[1], failure])
    assert feedback.suggestions == ("best",)
    assert feedback.usage.model_calls == 1
    assert len(feedback.degraded) == 2


@pytest.mark.parametrize(
    ("wins", "strengths"),
    [
        ([[0, 3], [1, 0]], (0.75, 0.25)),
        ([[0, 1], [1, 0]], (0.5, 0.5)),
        ([[0, 2, 4], [1, 0, 2], [1, 1, 0]], (4 / 7, 2 / 7, 1 / 7)),
        # A chain: 1 has beaten 0 in two games of three, and 2 has beaten 1 in three of four.
        ([[0, 1, 0], [2, 0, 1], [0, 3, 0]], (1 / 9, 2 / 9, 6 / 9)),
    ],
)
def test_strengths_are_the_likeliest(wins: list[list[float]], strengths: tuple[float, ...]) -> None:
    assert bradley_terry(wins, prior=0) == pytest.approx(strengths, abs=1e-6)


def test_strengths_are_no_certainties_and_a_circle_is_a_draw() -> None:
    # With half a win for each beforehand: 1.5 to 0.5.
    assert bradley_terry([[0, 1], [0, 0]]) == pytest.approx((0.75, 0.25), abs=1e-6)
    best, middle, worst = bradley_terry([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    assert best > middle > worst > 0.05
    circle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert bradley_terry(circle) == pytest.approx((1 / 3,) * 3, abs=1e-6)
    assert bradley_terry([[0.0] * 4 for _ in range(4)]) == pytest.approx((0.25,) * 4)
    assert bradley_terry([[0.0]]) == (1.0,)
