"""Stock prose: what is found, where nothing is, and what the score is good for."""

import re

import pytest

from sifaka.calls.component import Binding
from sifaka.critics import SelfRefineCritic, StyleCritic
from sifaka.editor import rule_choice
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.style import Prose, habits, kinds, rules, score_of, style, worst_habits
from sifaka.record.thought import Thought
from sifaka.text.formats import Format
from tests.sifaka.critics.scripted_judge import ScriptedJudge

pytestmark = pytest.mark.anyio

STOCK = (
    "In today's fast-paced world, teams need more than just a tool. Acme is not just a platform, "
    "it's a movement that empowers teams to unlock their full potential. Our seamless solution "
    "fosters trust, highlighting our commitment to excellence. Experts agree that it plays a "
    "crucial role. Whether you're a beginner or a professional, there is a place for you here. "
    "In conclusion, the possibilities are endless."
)
PLAIN = (
    "Acme keeps the rota of a ward. A nurse who wants to swap a shift asks in the app; whoever "
    "takes it confirms, and the head nurse sees both. At St Mary's, where 40 people share 12 "
    "beds, swaps took two days by mail and take ten minutes now. It does not plan the rota. Ask "
    "for a trial of a month; we set it up in an afternoon and delete your data afterwards."
)


def parsed(text: str, format: Format = Format.MARKDOWN) -> ParsedText:
    return ParsedText.read(text, format)


def score(text: str) -> float:
    prose = Prose.of(parsed(text))
    return score_of(habits(prose), prose.words)


def kinds_in(text: str) -> set[str]:
    return {str(issue.rule).removeprefix("style.") for issue in style(parsed(text))}


@pytest.mark.parametrize("rule", [rule for rule in rules() if rule.phrases], ids=lambda r: r.name)
def test_a_rule_finds_its_examples_and_no_others(rule: "object") -> None:
    given = next(each for each in rules() if each is rule)
    assert given.kind in kinds()
    assert given.found
    assert given.missed
    assert given.measured
    for text in given.found:
        assert given.kind in kinds_in(text), text
    for text in given.missed:
        assert given.kind not in kinds_in(text), text


def test_stock_prose_scores_low_and_plain_words_about_the_same_score_high() -> None:
    assert score(STOCK) < 0.25
    assert score(PLAIN) > 0.9


@pytest.mark.parametrize(
    "text",
    [
        f"> {STOCK}\n\nThat was their page.",
        f"They wrote: “{STOCK}”",
        f"```\n{STOCK}\n```",
        "`delve` and `tapestry of` are words.",
        "See https://example.com/delve/tapestry-of/seamless for it.",
        "The ferry leaves, the ferry waits, and nobody is seamless.\n"
        "We delve, we dive, and then we rest.\nThe water closes, dark on dark.\n",
        "The rich tapestry of night\nAnd seamless is the sky\nWe delve into the fading light\n"
        "And vibrant birds go by\n",
    ],
)
def test_nothing_is_found_in_words_of_others_in_code_and_in_verse(text: str) -> None:
    assert kinds_in(text) == set()


def test_a_short_text_has_findings_and_no_score() -> None:
    issues, found = worst_habits(parsed("We are thrilled to announce a seamless journey."), 7)
    assert issues
    assert found is None


def test_an_answer_is_short_and_gives_no_advice_twice() -> None:
    everything = " ".join(rule.found[0] for rule in rules() if rule.found)
    issues, _ = worst_habits(parsed(f"{everything} {everything}"), 7)
    assert len(issues) == 7
    advice = [kinds()[str(issue.rule).removeprefix("style.")].advice for issue in issues]
    assert len(set(advice)) == 7
    told = " ".join(f"{issue.quote}: {issue.message}" for issue in issues)
    assert len(re.findall(r"\w+|[^\w\s]", told)) <= 180


def test_dashes_labels_and_rows_of_three_are_measured() -> None:
    dashed = "It rained — a lot — and we stayed — all of us — at home. " * 3
    assert "dashes" in kinds_in(dashed)
    labels = "".join(f"- **Label {n}:** some words on it.\n" for n in range(5))
    assert "layout" in kinds_in(labels)
    assert "layout" not in kinds_in("- **One:** some words on it.\n")
    rows = "It is quick, cheap, and safe. We read, write, and talk. They eat, drink, and sing."
    assert "triads" in kinds_in(rows)
    assert "triads" not in kinds_in("We bought apples, pears, and plums, and then went home.")


async def test_the_critic_tells_and_has_no_vote() -> None:
    feedback = await StyleCritic().critique(Thought(text=STOCK))
    assert (feedback.critic, feedback.verdict, feedback.judges_task) == ("style", None, False)
    assert feedback.scores["style"] < 0.25
    assert all(issue.anchored and issue.fix is None for issue in feedback.issues)
    assert feedback.mistakes == ()


@pytest.mark.parametrize(
    ("text", "ignored", "told"),
    [(STOCK, False, True), (PLAIN, False, False), (STOCK, True, False)],
    ids=["stock", "plain", "ignored"],
)
async def test_a_review_by_a_model_is_shown_it(text: str, ignored: bool, told: bool) -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    rules = rule_choice(ignore=["style"]) if ignored else None
    binding = Binding(model=judge.model, rules=rules)
    feedback = await SelfRefineCritic().bind(binding).critique(Thought(text=text))
    (asked,) = judge.asked
    assert ("<stock-prose" in asked.question.replace("stock prose", "stock-prose")) == told
    assert (feedback.critic, feedback.issues) == ("self_refine", ())


C = "#include <a.h>\n\nint delve(void) {\n    return seamless;\n}\n"


@pytest.mark.parametrize("text", [C, '{"a": "seamless"}', "Das ist " * 40])
async def test_the_critic_says_what_it_does_not_read(text: str) -> None:
    feedback = await StyleCritic().critique(Thought(text=text))
    assert feedback.issues == ()
    assert feedback.reason
    assert feedback.scores == {}
