"""What is said about a claim without a model, and what the figures of a quote tell."""

import pytest

from sifaka.evidence.claims.comparison import disagreement, judged_by_rule, sentence_near
from sifaka.evidence.documents import SourceDocument


def said(claim: str, *sentences: str, title: str = "") -> str:
    found = judged_by_rule(claim, SourceDocument(text=" ".join(sentences), title=title))
    return "" if found is None else "contradicted" if found.contradicts else found.judgement


@pytest.mark.parametrize(
    ("claim", "sentence", "told"),
    [
        ("The museum is free on Sundays.", "The museum is free on Sundays.", "support"),
        ("On Sundays the museum is free.", "The museum is free on Sundays.", "support"),
        ("The vote was 5 to 7.", "The vote was 7 to 5.", ""),
        ("Dogs chase cats.", "Cats chase dogs.", ""),
        ("The museum is free.", "The museum is not free.", ""),
        ("The museum is free.", "Is the museum free?", ""),
        ("It fell to 5 degrees.", "It fell to -5 degrees.", ""),
        ("The bridge opened in 1931.", "The bridge opened in 1913.", "contradicted"),
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
    assert said(claim, sentence, title="The suspension bridge") == "contradicted"
    assert said(claim, sentence, title="Bridges") == ""
    assert said("The bridge never opened in 1931.", sentence, title="It never opened") == ""


def test_two_sentences_about_a_claim_are_for_a_judge() -> None:
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


def test_a_name_with_a_figure_before_the_verb_may_is_no_date() -> None:
    assert disagreement("The NC-7 may open.", "The NC-7 will perhaps open.") == ""
