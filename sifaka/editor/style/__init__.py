"""Stock prose: phrases and forms that stand in many texts because they came first to mind.

They are judged, and never who wrote them: detectors of machines' texts are unfair to people who
write in a second language (Liang et al. 2023, arXiv 2304.02819).
"""

from collections.abc import Iterator

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.style.prose import Prose
from sifaka.editor.style.rules import SHORT, USUAL, Habit, habits, kinds, score_of
from sifaka.record.results import Issue
from sifaka.text.prose import Span

__all__ = ["USUAL", "style", "worst_habits"]


def style(parsed: ParsedText) -> Iterator[Issue]:
    """Every place of stock prose; a matter of taste, without a fix."""
    for habit in habits(Prose.of(parsed)):
        for place in habit.places:
            issue = _issue_of(parsed.text, habit, place)
            yield issue.model_copy(update={"message": f'"{issue.quote}" {issue.message}'})


def worst_habits(parsed: ParsedText, most: int) -> tuple[tuple[Issue, ...], float | None]:
    """The first place of each of the worst kinds of stock prose, in text order, and the score.

    The score is 0 to 1, and None of a text of less than 60 words.
    """
    prose = Prose.of(parsed)
    found = habits(prose)
    worst = (
        _issue_of(parsed.text, habit, habit.places[0], len(habit.places) - 1)
        for habit in found[:most]
    )
    score = round(score_of(found, prose.words), 2) if prose.words >= SHORT else None
    return tuple(sorted(worst, key=lambda issue: issue.start or 0)), score


def _issue_of(text: str, habit: Habit, place: Span, others: int = 0) -> Issue:
    """The finding in one place: what is wrong with it, and what to do.

    Args:
        text: The text.
        habit: What was found.
        place: The place.
        others: The number of other places that it stands for.
    """
    kind = kinds()[habit.kind]
    more = f", here and {others} more" if others else ""
    message = f"{kind.why}{more}. {kind.advice}"
    rule = f"style.{habit.kind}"
    return Issue.at(text, *place, message, category="style", severity=2, rule=rule)
