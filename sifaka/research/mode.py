"""Which of the two ways of research a question asks for."""

import re
from typing import Literal

from sifaka.record.inquiry import ResearchMode

Mode = Literal["iterative", "deep"]

LONG = 40
"""Words: a question of so many asks for several things."""
_REPORT = re.compile(
    r"\b(?:reports?|overviews?|surveys?|stud(?:y|ies)|white ?papers?|state of the art|literature"
    r"|in[- ]depth|comprehensive(?:ly)?|compar(?:e|es|ed|ing|isons?)|versus|vs|pros and cons"
    r"|advantages and disadvantages|analy[sz](?:e|es|is)|berichte?|überblick|übersicht"
    r"|vergleich(?:e|en)?)\b",
    re.IGNORECASE,
)


def chosen_mode(mode: ResearchMode, question: str) -> Mode:
    """The mode to research in.

    `auto` takes `deep` for a question that speaks of a report, an overview, a comparison or an
    analysis, and for one of at least `LONG` words; otherwise `iterative`. No model is asked.
    """
    if mode != "auto":
        return mode
    is_wide = _REPORT.search(question) is not None or len(question.split()) >= LONG
    return "deep" if is_wide else "iterative"
