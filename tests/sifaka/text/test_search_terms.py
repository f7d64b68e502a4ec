"""The terms by which texts are found, in each way of writing."""

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sifaka.storage.bm25 import query_words, rank, snippet
from sifaka.text.search_terms import (
    MOST_TERMS,
    fold,
    language_of,
    query_terms,
    term_counts,
    text_terms,
)
from sifaka.text.words import count_words, words
from tests.stubs.cost import seconds

GERMAN = "Die Rückerstattungen werden bezahlt, und die Kunden sind mit den Büchern zufrieden."
SPANISH = "Las devoluciones de los artículos no cuestan nada, y el envío es rápido para todos."


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("refund", "Refunds are paid."),
        ("Rückerstattung", GERMAN),
        ("ruckerstattung BUCHER", GERMAN),
        ("Buch", "Das Buch ist nicht da, und der Leser wartet auf die Ausleihe."),
        ("devolucion", SPANISH),
        ("remboursements", "Le remboursement est payé dans les trente jours pour tous."),
        ("книга", "Мы купили эти книги."),
        ("كتاب", "الكتاب جديد"),
        ("किताबें", "यह किताब अच्छी है"),
        ("退款", "我们在三十天内退款。"),
        ("ガラス", "窓のｶﾞﾗｽが割れた"),
        ("환불", "고객에게 환불합니다"),
        ("คืนเงิน", "เราคืนเงินภายในสามสิบวัน"),
        ("手机", "iPhone手机壳"),
        ("iphone", "iPhone手机壳"),
        ("ﬁnal ２０２６", "The final of 2026"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
    ],
)
def test_a_text_is_found_by_other_forms_of_its_words(query: str, text: str) -> None:
    asked = query_words(query)
    assert rank(asked, [((text, 1.0),), (("Nothing of it.", 1.0),)])[0] > 0
    assert "**" in snippet(asked, [text])


@pytest.mark.parametrize(
    ("query", "text"),
    [("か", "が"), ("ครู", "รถไฟ"), ("退货", "退款"), ("कम", "काम"), ("refund", "fund")],
)
def test_other_words_are_not_taken_for_the_same(query: str, text: str) -> None:
    assert rank(query_words(query), [((text, 1.0),)]) == [0]


def test_matches_are_marked_in_a_run_without_spaces() -> None:
    text = "我们的退款政策如下。" * 40
    shown = snippet(query_words("退款政策"), [text])
    assert shown.startswith("我们的**退款政策**如下。我们的**退款政策**")
    assert shown.endswith("…")


def test_a_query_is_bounded_in_every_script() -> None:
    for query in ("退款政策如下" * 10_000, "x".join(map(str, range(10_000))), "a b " * 10_000):
        assert len(query_terms(query_words(query))) <= MOST_TERMS


@pytest.mark.hostile
@pytest.mark.parametrize("piece", ["我们退款。", "เราคืนเงินภายใน", "환불합니다 ", "refunds ", "हम "])
def test_a_megabyte_takes_a_second_or_two(piece: str) -> None:
    text = piece * (1_000_000 // len(piece.encode()))

    def read() -> None:
        assert text_terms(text, language_of(text))
        count_words(text)

    assert seconds(read) < 8  # measured: 0.2 to 1.7


@example("⑴ ﱞ ـ ﷺ ㈱")
@given(st.text())
def test_any_text_has_terms_that_a_store_can_take(text: str) -> None:
    for term in text_terms(text, "en"):
        assert term
        assert not set(term) & set(' "*()\0')
        assert term == fold(term)
    assert Counter(text_terms(text, "en")) == term_counts(text, "en")
    spans = words(text)
    assert spans == sorted(spans)
    assert len(spans) == count_words(text)
