"""Quoted words bear a claim out, or the judgement on it does not stand."""

import pytest

from sifaka.evidence.claims.bearing import disagreement, passage_of
from sifaka.evidence.claims.comparison import judged_by_rule
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.quotes import QuotableText

TITLE = "The harbour museum"
TEXT = (
    "# The harbour museum\n\nTickets cannot be bought online; they are sold at the door. "
    "The museum shows 74 ships from 12 countries.\n\n"
    "Admission costs less than in the town museum. It was founded by Henrik Dahl in 1931. "
    "Anna Berg designed the hall, while Erik Lund built the pier."
)
PAGE = SourceDocument(text=TEXT, title=TITLE)


def reason(claim: str, *quotes: str) -> str:
    text = QuotableText(TEXT)
    return disagreement(claim, [passage_of(quote, text, TITLE) for quote in quotes])


def test_a_quote_is_widened_to_its_whole_sentence_without_the_heading() -> None:
    passage = passage_of("be bought online", QuotableText(TEXT), TITLE)
    assert passage.text == "Tickets cannot be bought online; they are sold at the door."


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("The museum has 74 ships from twelve countries.", "shows 74 ships"),
        ("Tickets are sold at the door.", "sold at the door"),
        ("Henrik Dahl founded the museum in 1931.", "founded by Henrik Dahl"),
        ("The town museum costs more than the admission here.", "Admission costs less than"),
    ],
)
def test_a_true_claim_in_other_words_is_borne_out(claim: str, quote: str) -> None:
    assert reason(claim, quote) == ""


@pytest.mark.parametrize(
    ("claim", "quote", "told"),
    [
        ("Tickets can be bought online.", "be bought online", "negated"),
        ("The museum shows 47 ships.", "shows 74 ships", "'47'"),
        ("The museum was founded by Henrik Dahl in 1913.", "founded by Henrik Dahl", "'1913'"),
        ("The museum was founded by Peter Moe in 1931.", "founded by Henrik Dahl", "Peter Moe"),
        ("Anna Berg built the pier.", "Anna Berg designed the hall", "Erik Lund"),
        ("Admission costs more than in the town museum.", "Admission costs less", "other way"),
        ("Dogs are welcome in the garden.", "shows 74 ships from 12 countries", "something else"),
    ],
)
def test_a_false_claim_is_not_whatever_real_words_are_quoted(
    claim: str, quote: str, told: str
) -> None:
    assert told in reason(claim, quote)


@pytest.mark.parametrize(
    ("claim", "sentence", "told"),
    [
        (
            "The tower was built in 1888.",
            "Some wrongly claim that the tower was built in 1888.",
            "do not say",
        ),
        ("The tower was built in 1888.", "Was the tower built in 1888?", "do not say"),
        (
            "The tower was built in 1888.",
            "If the tower was built in 1888, it is old.",
            "do not say",
        ),
        ("Der Turm wurde 1888 gebaut.", "Angeblich wurde der Turm 1888 gebaut.", "do not say"),
        ("这座塔不高300米。", "这座塔高300米。", "negated"),
        ("这座塔高400米。", "这座塔高300米。", "400"),
        ("塔は300メートルではない。", "塔は300メートルである。", "negated"),
    ],
)
def test_what_is_asked_supposed_doubted_or_denied_bears_nothing_out(
    claim: str, sentence: str, told: str
) -> None:
    passage = passage_of(sentence, QuotableText(sentence), "")
    assert told in disagreement(claim, [passage])
    assert disagreement(sentence, [passage]) == ""


def test_without_a_quote_nothing_is_borne_out() -> None:
    assert reason("The museum shows 74 ships.") == "nothing was quoted"


def test_rules_alone_answer_where_no_understanding_is_needed() -> None:
    same = judged_by_rule("The museum shows 74 ships from 12 countries!", PAGE)
    assert same is not None
    assert (same.judgement, same.quotes) == (
        "support",
        ("The museum shows 74 ships from 12 countries.",),
    )
    other = judged_by_rule("The museum shows 75 ships from 12 countries.", PAGE)
    assert other is not None
    assert (other.judgement, other.contradicts) == ("reject", True)
    for claim in ("Tickets can be bought online.", "Twelve countries sent ships.", "It rains."):
        assert judged_by_rule(claim, PAGE) is None


@pytest.mark.parametrize("text", ["", "word " * 50_000, "a.b." * 20_000, "1 of 2, " * 20_000])
def test_hostile_documents_and_claims_are_compared_in_no_time(text: str) -> None:
    page = SourceDocument(text=text)
    disagreement(text[:1_900], [passage_of(text[:1_000], QuotableText(text), "")])
    assert judged_by_rule("The tower has 12 doors.", page) is None
    assert judged_by_rule("word " * 400, page) is None


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It weighs about 100 kilograms.", "It weighs about 100 grams."),
        ("It stores over 3 gigabytes.", "It stores over 3 megabytes."),
        ("The turbines produce 118 kilowatts.", "The turbines produce 118 megawatts."),
        ("The cell stores 265 kilowatt-hours.", "The cell stores 265 watt-hours."),
    ],
)
def test_the_same_number_with_another_unit_bears_nothing_out(claim: str, sentence: str) -> None:
    assert disagreement(claim, [passage_of(sentence, QuotableText(sentence), "")])
    assert disagreement(sentence, [passage_of(sentence, QuotableText(sentence), "")]) == ""


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It weighs about 0.1 kilograms and eats seeds.", "It weighs 101 grams and eats seeds."),
        ("The turbines produce 118 MW.", "The turbines produce 118 megawatts."),
        ("The cell stores 265 Wh per kilogram.", "The cell stores 265 watt-hours per kilogram."),
    ],
)
def test_the_same_measure_in_another_unit_bears_it_out(claim: str, sentence: str) -> None:
    assert disagreement(claim, [passage_of(sentence, QuotableText(sentence), "")]) == ""


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Il ponte fu costruito dai Romani.", "Il ponte non fu costruito dai Romani."),
        ("De molen is te koop.", "De molen is niet te koop."),
        ("Slottet är öppet för besökare.", "Slottet är inte öppet för besökare."),
        ("Мост был построен в 1931 году.", "Мост не был построен в 1931 году."),
        ("Silta on avoinna autoille.", "Silta ei ole avoinna autoille."),
        ("Η γέφυρα είναι ανοιχτή για αυτοκίνητα.", "Η γέφυρα δεν είναι ανοιχτή για αυτοκίνητα."),
        ("الجسر مفتوح للسيارات.", "الجسر ليس مفتوحا للسيارات."),
        ("Cây cầu mở cho ô tô.", "Cây cầu không mở cho ô tô."),
        ("The wine from Skär was filtered.", "The wine from Skär was unfiltered."),
    ],
)
def test_negation_is_seen_in_many_languages(claim: str, sentence: str) -> None:
    assert "negated" in disagreement(claim, [passage_of(sentence, QuotableText(sentence), "")])


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The council built a hospital in 2030.", "The council plans to build a hospital in 2030."),
        ("The ferry runs every hour.", "The ferry used to run every hour."),
        ("The vaccine reduces the risk by 40 %.", "The vaccine may reduce the risk by 40 %."),
        ("All of the bridges were damaged.", "Some of the bridges were damaged."),
        ("Exports decreased by 12 percent.", "Exports rose by 12 percent."),
        ("The pump moves 40 litres per hour.", "The pump moves 40 litres per minute."),
        ("The city was founded in 300 AD.", "The city was founded in 300 BC."),
        ("The bridge was finished before 1916.", "The bridge was finished in 1916."),
        ("The lake is the deepest in the land.", "The lake is the second deepest in the land."),
        ("The bridge was finished in 1911.", "The bridge was begun in 1911 and finished in 1916."),
        ("The northern gate is blue.", "The northern gate is red and the southern gate blue."),
        ("Sweden defeated Norway in the final.", "Norway defeated Sweden in the final."),
        ("The hall has a steel roof and marble floors.", "The hall has a steel roof."),
        ("A flood destroyed the furnaces.", "A fire destroyed the furnaces."),
        ("Bodin has 20,000 people.", "| Alta | 20,000 |\n| Bodin | 30,000 |"),
    ],
)
def test_one_word_or_turn_bears_nothing_out(claim: str, sentence: str) -> None:
    assert disagreement(claim, [passage_of(sentence, QuotableText(sentence), "")])


def test_a_number_that_the_sentence_has_of_something_else_is_no_contradiction() -> None:
    page = SourceDocument(text="L'ingresso costa 9 euro, 5 per gli studenti.")
    assert judged_by_rule("L'ingresso costa 5 euro per gli studenti.", page) is None


def test_a_short_claim_is_borne_out_by_a_long_sentence() -> None:
    sentence = f"Tickets are sold at the pier {'and at each of the many kiosks ' * 20}in town."
    passage = passage_of("Tickets are sold", QuotableText(sentence), "")
    assert disagreement("Tickets are sold at the pier.", [passage]) == ""


@pytest.mark.parametrize(
    ("said", "stands"),
    [("31 people died", True), ("58 people died", False), ("31 people were saved", False)],
)
def test_the_whole_is_not_taken_for_one_of_its_parts(said: str, stands: bool) -> None:
    text = "Of the 89 people on board, 31 died and 58 were saved."
    quoted = passage_of("31 died and 58 were saved", QuotableText(text), "SS Grace")
    reason = disagreement(f"Of the people on board the Grace {said}.", [quoted])
    assert (reason == "") is stands


@pytest.mark.parametrize(
    ("claim", "sentence", "false"),
    [
        (
            "The mill grinds 9 tonnes every day.",
            "The mill grinds 9 tonnes a day.",
            "Every mill grinds 9 tonnes a day.",
        ),
        (
            "Adults take at most eight tablets.",
            "Adults take no more than eight tablets.",
            "Adults take more than eight tablets.",
        ),
        (
            "Mice kept awake after training remembered less than those that slept.",
            "Mice that slept after training remembered more than mice kept awake.",
            "Mice kept awake after training remembered more than those that slept.",
        ),
        (
            "Ein Widerruf des Vertrags ist 14 Tage lang möglich.",
            "Der Vertrag kann 14 Tage lang widerrufen werden.",
            "Der Vertrag kann nicht 14 Tage lang widerrufen werden.",
        ),
        (
            "Tidebox reports 3 million copies sold of Reef.",
            "Reef sold 3 million copies, according to the publisher Tidebox.",
            "Tidebox sold 3 million copies.",
        ),
        (
            "The lamp was found by Sousa in Porto.",
            "The lamp was found by Sousa in Porto and by Arai in Sendai.",
            "The lamp was found by Sousa in Sendai.",
        ),
        (
            "Prices were 139 dollars in 2023.",
            "Prices fell from 780 dollars in 2013 to 139 dollars in 2023.",
            "Prices were 139 dollars in 2013.",
        ),
        (
            "The works employ 340 people.",
            "The works employ 340 people, 60 fewer than in 2015.",
            "The works employed 340 people in 2015.",
        ),
    ],
)
def test_a_true_claim_stands_where_its_twist_does_not(
    claim: str, sentence: str, false: str
) -> None:
    passages = [passage_of(sentence, QuotableText(sentence), "")]
    assert disagreement(claim, passages) == ""
    assert disagreement(false, passages)


def test_the_number_of_a_reference_is_no_number_of_the_claim() -> None:
    sentence = "The bridge was opened in 1913."
    passages = [passage_of(sentence, QuotableText(sentence), "")]
    for mark in (" [1]", "[2, 14]", "[3][4]", "[^5]"):
        claim = f"The bridge was opened in 1913{mark}."
        assert disagreement(claim, passages) == ""
        judged = judged_by_rule(claim, SourceDocument(text=sentence))
        assert judged is not None
        assert judged.judgement == "support"
    assert disagreement("The bridge was opened on [1](https://example.org) 13 May.", passages)
