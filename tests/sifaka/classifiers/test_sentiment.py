import sys

import pytest

from sifaka.classifiers.sentiment import SentimentClassifier
from sifaka.errors import ConfigurationError
from sifaka.validators import parse_validators
from tests.stubs.cost import seconds

PRAISE = "I love this library. The documentation is wonderful and everything works great."
BLAME = "This is a terrible library. I hate the awful documentation and the horrible errors."


@pytest.mark.parametrize(("text", "label"), [(PRAISE, "positive"), (BLAME, "negative")])
def test_praise_and_blame_are_told_apart(text: str, label: str) -> None:
    found = SentimentClassifier().classify(text)
    assert found.label == label
    assert 0.5 <= found.confidence <= 0.88
    assert found.scores[label] == max(found.scores.values())


def test_a_neutral_text_is_never_certain() -> None:
    found = SentimentClassifier().classify("The table has four columns. The first holds the name.")
    assert (found.label, found.confidence) == ("neutral", 0.45)
    assert found.evidence == ()


def test_sentences_are_rated_one_by_one_and_pointed_at() -> None:
    text = f"The meeting is on Monday. {BLAME}"
    found = SentimentClassifier().classify(text)
    assert [issue.quote for issue in found.evidence] == [
        "This is a terrible library.",
        "I hate the awful documentation and the horrible errors.",
    ]
    for issue in found.evidence:
        assert text[issue.start : issue.end] == issue.quote


def test_another_language_is_not_judged() -> None:
    found = SentimentClassifier().classify(
        "Diese Bibliothek ist schrecklich, und ich kann die Fehler nicht mehr sehen."
    )
    assert (found.label, found.confidence) == ("unknown", 0)
    assert "'de'" in found.coverage


def test_an_empty_text_has_no_sentiment() -> None:
    assert SentimentClassifier().classify("").label == "unknown"


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vaderSentiment", None)
    with pytest.raises(ConfigurationError) as caught:
        SentimentClassifier()
    assert caught.value.suggestion == "pip install 'sifaka-mcp[classifiers]'"
    with pytest.raises(ConfigurationError, match=r"pip install 'sifaka-mcp\[classifiers\]'"):
        parse_validators([{"type": "classifier", "name": "sentiment"}])


@pytest.mark.slow
def test_a_sentence_without_end_is_rated_in_parts_in_linear_time() -> None:
    for piece in ("good bad but kind no ", "😀"):
        small, large = (
            seconds(lambda n=n, piece=piece: SentimentClassifier().classify(piece * n))
            for n in (500, 4_000)
        )
        assert large < 20 * small, piece
    assert SentimentClassifier().classify("a wonderful, superb day and " * 500).label == "positive"
