"""Small numbers in the words of other languages than those whose numbers are read as a whole.

A text may spell out a number to twelve, and a translation too. The words are those of CLDR's
spell-out rules, with the other forms that stand before a noun.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from sifaka.validators.facts.reading import Reading
from sifaka.validators.facts.vocabulary import READ, number_words

_FIRST = 2
_TWO_TO_TWELVE = {
    "ar": """اثنان,اثنين ثلاثة,ثلاث أربعة,أربع خمسة,خمس ستة,ست سبعة,سبع ثمانية,ثماني تسعة,تسع
        عشرة,عشر أحد-عشر اثنا-عشر""",
    "be": """два,дзве тры чатыры пяць шэсць сем восем дзевяць дзесяць адзінаццаць
        дванаццаць""",
    "bg": """две,два три четири пет шест седем осем девет десет единадесет дванадесет""",
    "bn": """দুই তিন চার পাঁচ ছয় সাত আট নয় দশ এগারো বারো""",
    "ca": """dos,dues tres quatre cinc sis set vuit nou deu onze dotze""",
    "cs": """dva,dvě tři čtyři pět šest sedm osm devět deset jedenáct dvanáct""",
    "cy": """dau tri pedwar pump chwech saith wyth naw deg un-ar-ddeg deuddeg""",
    "da": """to tre fire fem seks syv otte ni ti elleve tolv""",
    "el": """δύο τρία,τρεις τέσσερα,τέσσερις πέντε έξι επτά,εφτά οκτώ,οχτώ εννέα,εννιά δέκα
        έντεκα δώδεκα""",
    "fa": """دو سه چهار پنج شش هفت هشت نه ده یازده دوازده""",
    "fi": """kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista
        kaksitoista""",
    "he": """שתיים,שני שלוש,שלושה ארבע,ארבעה חמש,חמישה שש,שישה שבע,שבעה שמונה,שמונה תשע,תשעה
        עשר,עשרה אחת-עשרה שתים-עשרה""",
    "hi": """दो तीन चार पाँच,पांच छह,छः सात आठ नौ दस ग्यारह बारह""",
    "hu": """kettő,két három négy öt hat hét nyolc kilenc tíz tizenegy tizenkettő""",
    "id": """dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas dua-belas""",
    "is": """tveir þrír fjórir fimm sex sjö átta níu tíu ellefu tólf""",
    "ja": """二,两,兩 三 四 五 六 七 八 九 十 十一 十二""",
    "ko": """두 삼,세 사,네 오,다섯 육,여섯 칠,일곱 팔,여덟 구,아홉 십,열 십일,열한 십이,열두""",
    "lt": """du trys keturi penki šeši septyni aštuoni devyni dešimt vienuolika dvylika""",
    "lv": """divi trīs četri pieci seši septiņi astoņi deviņi desmit vienpadsmit
        divpadsmit""",
    "no": """to tre fire fem seks syv åtte ni ti elleve tolv""",
    "pl": """dwa,dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście
        dwanaście""",
    "ro": """doi,două trei patru cinci șase șapte opt nouă zece unsprezece doisprezece""",
    "ru": """два,две три четыре пять шесть семь восемь девять десять одиннадцать
        двенадцать""",
    "sk": """dva,dve tri štyri päť šesť sedem osem deväť desať jedenásť dvanásť""",
    "sl": """dve,dva tri štiri pet šest sedem osem devet deset enajst dvanajst""",
    "sr": """dva,dve tri četiri pet šest sedam osam devet deset jedanaest dvanaest""",
    "sv": """två tre fyra fem sex sju åtta nio tio elva tolv""",
    "th": """สอง สาม สี่ ห้า หก เจ็ด แปด เก้า สิบ สิบเอ็ด สิบสอง""",
    "tr": """iki üç dört beş altı yedi sekiz dokuz on onbir oniki""",
    "uk": """два,дві три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять""",
    "vi": """hai ba bốn năm sáu bảy tám chín mười mười-một mười-hai""",
    "zh": """二,两,兩 三 四 五 六 七 八 九 十 十一 十二""",
}
"""The words from two to twelve by language; commas divide forms, hyphens the words of one."""
_CLEAR = 3
"""Letters from which a word is taken for a number in a text of an unknown language."""
_INFLECTED = 4
"""Letters from which a word may lose its last one."""
_ENDING = 3
"""Letters by which an ending may be longer."""
_READ_WHOLE = frozenset({*READ, "ja", "zh"})
"""Languages whose numbers in words, or in Chinese characters, are read with their units."""
_JOINED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]")
"""Scripts that put no spaces between words."""


def is_spelt_out(value: Fraction | None, text: str, language: str) -> bool:
    """True when a text has a number from 2 to 12 in words.

    Args:
        value: The number.
        text: The translation.
        language: Its language, or `unknown`: then short Latin words are not looked for, which may
            be other words of another language.
    """
    if value is None or value.denominator != 1:
        return False
    pattern = _pattern(int(value), language)
    return pattern is not None and pattern.search(text) is not None


def respelt(before: Reading, after: Reading) -> Iterator[tuple[str, str]]:
    """A number in words that a rewrite does not have, with one in its place, if there are both."""
    language = before.language
    if language in _READ_WHOLE or language not in _TWO_TO_TWELVE:
        return
    old, new = _spelt(before.text, language), _spelt(after.text, language)
    lost = [v for v in old if not _has(after, v)]
    come = [v for v in new if not _has(before, v)]
    yield from ((old[one], new[other]) for one, other in zip(lost, come, strict=False))


def _has(reading: Reading, value: int) -> bool:
    in_digits = any(fact.value == value for fact in reading.facts)
    return in_digits or is_spelt_out(Fraction(value), reading.text, reading.language)


def _spelt(text: str, language: str) -> dict[int, str]:
    """The words for numbers from 2 to 12 in a text, by their values."""
    forms = {
        form: value
        for value, listed in enumerate(_TWO_TO_TWELVE[language].split(), _FIRST)
        for form in listed.replace("-", " ").split(",")
    }
    listed = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    found = re.findall(listed if _JOINED.match(listed) else rf"(?<!\w)(?:{listed})(?!\w)", text)
    return {forms[form]: form for form in found}


@cache
def _pattern(value: int, language: str) -> re.Pattern[str] | None:
    known = language in _TWO_TO_TWELVE or language in READ
    words = _words(value, language) if known else _clear_words(value)
    found = sorted({_searched(word) for word in words})
    return re.compile("|".join(found), re.IGNORECASE) if found else None


def _words(value: int, language: str) -> Iterator[str]:
    yield from (word for word, number in number_words(language).items() if number == value)
    forms = _TWO_TO_TWELVE.get(language, "").split()
    if _FIRST <= value < _FIRST + len(forms):
        yield from (form.replace("-", " ") for form in forms[value - _FIRST].split(","))


def _clear_words(value: int) -> Iterator[str]:
    for language in (*_TWO_TO_TWELVE, *READ):
        yield from (w for w in _words(value, language) if len(w) >= _CLEAR or not w.isascii())


def _searched(word: str) -> str:
    if _JOINED.match(word):
        return re.escape(word)
    stem = word[:-1] if len(word) >= _INFLECTED else word
    return rf"(?<!\w){re.escape(stem)}\w{{0,{_ENDING}}}(?!\w)"
