"""`docs/classifiers.md` against the classifiers, and its specs against the parser."""

import json
import re

import pytest

from sifaka.classifiers import CLASSIFIERS, NONE_FOUND, UNKNOWN, classifier
from sifaka.classifiers.screen import NOTHING_FOUND
from sifaka.classifiers.sentiment import SentimentClassifier
from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka.text.language import LEAST_LETTERS, OWN_LANGUAGES
from sifaka.validators import ClassifierValidator, parse_validators
from sifaka.validators.classifier import CERTAIN
from sifaka.validators.guardrails import COUNT_LIMIT
from tests.docs.markdown import blocks, code, section, table

DOCUMENT = "docs/classifiers.md"
ROWS = {code(row[0])[0]: row[1:] for row in table(section(DOCUMENT, "Classifiers"))}
TRUST = " ".join(section(DOCUMENT, "How far to trust them").split())


def test_every_classifier_is_told() -> None:
    assert list(ROWS) == list(CLASSIFIERS)
    assert set(code(section("docs/tools.md", "Validators"))) >= set(CLASSIFIERS)


@pytest.mark.parametrize("name", sorted(set(CLASSIFIERS) - {"language"}))
def test_the_labels_of_a_classifier_are_told(name: str) -> None:
    labels = set(classifier(name).labels)
    assert set(code(ROWS[name][0])) == labels - {UNKNOWN}


@pytest.mark.slow
def test_all_may_answer_unknown() -> None:
    assert all(UNKNOWN in classifier(name).labels for name in CLASSIFIERS)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_whether_labels_have_to_be_allowed_is_told(name: str) -> None:
    if name == "language":
        with pytest.raises(ConfigurationError, match="needs allowed"):
            parse_validators([{"type": "classifier", "name": name}])
    else:
        parse_validators([{"type": "classifier", "name": name}])


def test_every_screen_has_its_false_alarms_told() -> None:
    screens = [name for name in CLASSIFIERS if NONE_FOUND in classifier(name).labels]
    rows = table(section(DOCUMENT, "How far to trust them"))
    assert [code(row[0])[0] for row in rows] == screens
    assert all(row[1].isdecimal() for row in rows)


def test_the_bounds_of_confidence_are_those_of_the_code() -> None:
    assert f"`none found` has a confidence of {NOTHING_FOUND:g}" in TRUST
    assert f"It tells {len(OWN_LANGUAGES)} languages" in TRUST
    assert f"Fewer than {LEAST_LETTERS} letters" in TRUST
    assert f"a confidence of at least {CERTAIN:g}" in TRUST
    threshold = ClassifierValidator.model_fields["threshold"].default
    assert f"`threshold` ({threshold:g})" in section(DOCUMENT, "Classifiers")
    assert f"at most {COUNT_LIMIT} of them" in section(DOCUMENT, "Guardrails")


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("positive", "I love it, it is wonderful, brilliant, excellent, the best and a great joy!"),
        (
            "negative",
            "I hate it, it is horrible, disgusting, awful, the worst and a terrible pain!",
        ),
        ("neutral", "The parcel is in the post office on the corner of the street."),
    ],
)
def test_the_clearest_sentiment_is_as_sure_as_told(label: str, text: str) -> None:
    of_both, of_neutral = re.findall(r"(0\.\d+) for", TRUST)
    found = SentimentClassifier().classify(text)
    assert (found.label, f"{found.confidence:.2f}") == (
        label,
        of_neutral if label == "neutral" else of_both,
    )


def test_the_specs_that_are_shown_can_be_parsed() -> None:
    specs = [json.loads(block.content) for block in blocks(DOCUMENT, "json")]
    assert [spec["type"] for spec in specs] == ["classifier", "guardrails"]
    parse_validators(specs[:1])
    # Its packages are in an environment of their own: here it is refused, and says what to do.
    with pytest.raises(ConfigurationError, match=re.escape(install("guardrails"))):
        parse_validators(specs[1:])
