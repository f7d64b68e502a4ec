from sifaka.classifiers.readability import ReadabilityClassifier

EASY = "The cat sat on the mat. It was a good day. We had fun in the sun. "
HARD = (
    "The organisation's implementation of interoperable methodologies necessitates considerable "
    "administrative coordination across geographically distributed institutional stakeholders. "
)


def test_easy_and_hard_prose_are_told_apart() -> None:
    assert ReadabilityClassifier().classify(EASY).label == "elementary"
    assert ReadabilityClassifier().classify(HARD).label == "college"


def test_a_longer_text_is_measured_with_more_confidence() -> None:
    one, many = (ReadabilityClassifier().classify(EASY * count) for count in (1, 20))
    assert one.confidence < many.confidence == 0.9
    assert "Flesch-Kincaid grade" in many.coverage


def test_the_hardest_sentences_are_the_evidence() -> None:
    text = EASY + HARD
    first = max(ReadabilityClassifier().classify(text).evidence, key=lambda issue: len(issue.quote))
    assert text[first.start : first.end] == HARD.strip()


def test_what_cannot_be_measured_is_unknown() -> None:
    for text in ("", "12 34", "这是一个测试。", "```\ncode\n```"):
        found = ReadabilityClassifier().classify(text)
        assert (found.label, found.confidence) == ("unknown", 0)
