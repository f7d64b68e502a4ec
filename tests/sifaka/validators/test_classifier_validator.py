"""A classifier as a validator, and the language that is expected."""

import pytest
from pydantic import TypeAdapter, ValidationError

from sifaka.classifiers import Classification
from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import (
    ClassifierValidator,
    LanguageValidator,
    ValidatorSpec,
    parse_validators,
)

pytestmark = pytest.mark.anyio

INSULT = "Well, you are an idiot."


class Moody:
    """A classifier of other code: it counts, and is as sure as it is told to be."""

    name = "mood"
    labels = ("calm", "angry")

    def __init__(self, confidence: float = 0.6) -> None:
        self.confidence = confidence
        self.asked = 0

    def classify(self, text: str) -> Classification:
        self.asked += 1
        label = "angry" if "!" in text else "calm"
        evidence = tuple(
            Issue.at(text, at, at + 1, "shouted") for at, each in enumerate(text) if each == "!"
        )
        return Classification(
            label=label, confidence=self.confidence, coverage="marks", evidence=evidence
        )


class MoodyLater(Moody):
    async def classify(  # pyright: ignore[reportIncompatibleMethodOverride] # may be either
        self, text: str
    ) -> Classification:
        return super().classify(text)


async def check(text: str, **options: object) -> ValidationResult:
    return await ClassifierValidator.model_validate(options).validate(Thought(text=text))


async def test_the_wire_form_names_the_classifier() -> None:
    (validator,) = parse_validators([{"type": "classifier", "name": "toxicity", "threshold": 0.8}])
    assert (validator.name, validator.required) == ("classifier:toxicity", True)
    adapter = TypeAdapter[object](ValidatorSpec)
    assert adapter.validate_json(adapter.dump_json(validator)) == validator
    (advice,) = parse_validators([{"type": "classifier", "name": "bias", "required": False}])
    assert not advice.required


async def test_a_classifier_may_be_filed_under_another_name() -> None:
    assert ClassifierValidator(classifier="bias", name="no groups").name == "no groups"
    assert ClassifierValidator.model_validate({"name": "bias"}).name == "classifier:bias"


async def test_what_a_screen_finds_fails_with_its_places() -> None:
    result = await check(INSULT, name="toxicity")
    assert not result.passed
    assert "toxic, confidence 0.85" in result.message
    assert "explicit threats, insults and slurs" in result.message
    (issue,) = result.issues
    assert INSULT[issue.start : issue.end] == issue.quote == "you are an idiot"
    assert result.suggestions


async def test_a_text_passes_where_nothing_is_found_or_it_is_below_the_threshold() -> None:
    result = await check("The committee met in May.", name="toxicity")
    assert result.passed
    assert result.message.startswith("none found, confidence 0.20; looked at: explicit")
    result = await check(INSULT, name="toxicity", threshold=0.9)
    assert result.passed
    assert result.message.endswith("below the threshold 0.9")


async def test_a_negative_sentiment_fails_and_a_positive_one_does_not() -> None:
    assert not (await check("I hate this awful, terrible day.", name="sentiment")).passed
    assert (await check("I love this great, wonderful day.", name="sentiment")).passed
    praise = await check(
        "I love this great, wonderful day.", name="sentiment", allowed=["neutral", "negative"]
    )
    assert not praise.passed
    assert "not neutral or negative" in praise.suggestions[0]


async def test_labels_decide_where_they_are_given() -> None:
    german = "Bitte starten Sie den Server neu, bevor Sie die Aktualisierung installieren."
    assert (await check(german, name="language", allowed=["de", "en"])).passed
    assert not (await check(german, name="language", allowed=["en"])).passed
    assert not (await check(german, name="language", forbidden=["de"])).passed
    assert (await check("Hallo", name="language", allowed=["en"])).passed, "too short to tell"


@pytest.mark.parametrize("kind", [Moody, MoodyLater])
async def test_any_classifier_will_do_now_or_later(kind: type[Moody]) -> None:
    mood = kind()
    validator = ClassifierValidator(classifier=mood, forbidden=["angry"])
    assert validator.name == "classifier:mood"
    assert (await validator.validate(Thought(text="Well."))).passed
    result = await validator.validate(Thought(text="No! No!"))
    assert not result.passed
    assert [issue.start for issue in result.issues] == [2, 6]
    assert mood.asked == 2


async def test_mending_one_of_two_places_scores_higher() -> None:
    scores = [
        (await check(text, classifier=Moody(), forbidden=["angry"])).score
        for text in ("No! No!", "No! No.", "No. No.")
    ]
    assert scores == sorted(set(scores))


async def test_a_label_without_a_place_still_makes_an_issue() -> None:
    result = await check("Calm.", classifier=Moody(), allowed=["angry"])
    assert [(issue.message, issue.anchored) for issue in result.issues] == [
        ("reads as calm", False)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name is missing; known: language, sentiment, profanity"),
        ({"name": "mood"}, "unknown classifier 'mood' — known: language"),
        ({"name": "language"}, "language needs allowed or forbidden labels; it has: "),
        ({"name": "bias", "allowed": ["fair"]}, "bias has no label 'fair'; it has: biased, none"),
        ({"name": "bias", "forbidden": ["biased"], "allowed": ["biased"]}, "allowed and forbidden"),
        ({"name": "bias", "threshold": 1.1}, "threshold: should be at most 1"),
        ({"classifier": 3}, "int is no classifier"),
    ],
)
async def test_one_line_says_what_is_wrong(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_validators([{"type": "classifier", **options}])
    assert message in caught.value.message
    assert "\n" not in caught.value.message


GERMAN = "Du bist ein Idiot, und wir werden dir das nicht vergessen, weil es uns wichtig ist."


@pytest.mark.parametrize("name", ["toxicity", "profanity", "bias"])
@pytest.mark.parametrize(
    "text", [GERMAN, "你是个白痴，我们不会忘记的。", "あなたは馬鹿です。忘れません。"]
)
async def test_a_screen_does_not_pass_what_it_cannot_read(name: str, text: str) -> None:
    screen = ClassifierValidator.model_validate({"name": name})
    result = await screen.validate(Thought(run_id="run_1", text=text))
    assert result.passed
    assert result.message.startswith("not checked: ")
    assert result.unchecked is not None
    assert "English" in result.unchecked
    assert "the text reads as" in result.unchecked


async def test_english_abuse_in_a_text_of_another_language_is_found() -> None:
    result = await ClassifierValidator.model_validate({"name": "toxicity"}).validate(
        Thought(run_id="run_1", text=f"{GERMAN} You are an idiot.")
    )
    assert not result.passed


UPDATE = "Bitte starten Sie den Server neu, bevor Sie die Aktualisierung installieren."


async def check_language(text: str, expected: str) -> ValidationResult:
    return await LanguageValidator(expected=expected).validate(Thought(text=text))


async def test_the_expected_language_passes_and_another_fails() -> None:
    assert (await check_language(UPDATE, "de")).passed
    result = await check_language(UPDATE, "en")
    assert (result.passed, result.score < 0.5) == (False, True)
    assert result.message.startswith("reads as 'de', not 'en'")
    assert [issue.rule for issue in result.issues] == ["expected"]


async def test_a_text_too_short_to_tell_passes_and_says_so() -> None:
    result = await check_language("Hallo", "en")
    assert result.passed
    assert "could not tell the language" in result.message
    assert "too short" in result.message


async def test_a_language_that_only_the_package_knows_can_be_expected() -> None:
    basque = "Mesedez, berrabiarazi zerbitzaria eguneratzeak instalatu aurretik."
    assert (await check_language(basque, "eu")).passed
    assert not (await check_language(basque, "es")).passed


@pytest.mark.parametrize("code", ["EN", "english", "e", "", "12", "en-US"])
async def test_what_is_no_code_is_refused_with_an_example(code: str) -> None:
    with pytest.raises(ValidationError, match="two lower-case letters of ISO 639-1, such as 'en'"):
        LanguageValidator(expected=code)


async def test_a_code_nobody_can_tell_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"cannot tell the language 'qq'; known: ar, be"):
        LanguageValidator(expected="qq")
