"""Words for numbers, months, days and units, in the languages that are read."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from sifaka.text.function_words import FUNCTION_WORDS

_STEM = 5
_RUN = re.compile(r"\w+")

_SMALL = {
    "en": """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen""",
    "de": """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
        fünfzehn sechzehn siebzehn achtzehn neunzehn""",
    "fr": """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze
        seize dix-sept dix-huit dix-neuf""",
    "es": """cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce
        quince dieciséis diecisiete dieciocho diecinueve""",
    "it": """zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici
        quattordici quindici sedici diciassette diciotto diciannove""",
    "pt": """zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze
        dezesseis dezessete dezoito dezenove""",
    "nl": """nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien
        vijftien zestien zeventien achttien negentien""",
}
READ = tuple(_SMALL)
"""The languages whose numbers in words are read."""
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "pt": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "nl": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
}
_MORE = {
    "en": {"dozen": 12, "dozens": 12, "both": 2, "twice": 2, "thrice": 3},
    "de": {"ein": 1, "eine": 1, "beide": 2, "beiden": 2, "zweimal": 2, "dreimal": 3, "zwo": 2},
    "fr": {"une": 1, "quatre-vingt": 80},
    "es": {"un": 1, "una": 1},
    "it": {"un": 1, "una": 1},
    "pt": {"uma": 1, "duas": 2},
    "nl": {},
}
_ES_TWENTIES = """veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete
    veintiocho veintinueve"""


def _table(lines: str) -> Mapping[str, int]:
    """The number in front of each line by the words after it."""
    rows = (line.split() for line in lines.strip().splitlines())
    return {word: int(number) for number, *words in rows for word in words}


HUNDREDS: Mapping[str, int] = _table("""
100 hundred hundert cent cents cien ciento cento cem honderd
""")
SCALES: Mapping[str, int] = _table("""
1000 thousand tausend mille mil mila duizend тысяч 千
1000000 million millions millionen mio millón millones milione milioni milhão milhões miljoen mn
1000000 миллионов миллиона 百万 百萬
1000000000 billion milliarde milliarden milliard milliards mrd
1000000000 miliardi bn миллиардов
1000000000000 trillion
10000 万 萬
100000000 亿 億
10000000 千万
""")
"""Words that multiply the number before them."""
JOINERS = frozenset({"and", "und", "et", "y", "e", "en"})
_DE_JOINED = "und"
_ORDINALS = """
    first,erste,premier second,zweite,deuxième third,dritte,troisième fourth,vierte fifth,fünfte
    sixth,sechste seventh,siebte eighth,achte ninth,neunte tenth,zehnte
"""
ORDINALS: Mapping[str, int] = {
    word: n for n, words in enumerate(_ORDINALS.split(), 1) for word in words.split(",")
}
FRACTIONS: Mapping[str, int] = _table("""
3 third thirds drittel tiers tercios terzi terços
4 quarter quarters viertel quarts cuartos
5 fifth fifths fünftel
10 tenths
""")
_MONTHS = (
    "january jan januar jänner janvier enero gennaio janeiro januari",
    "february feb februar février febrero febbraio fevereiro februari",
    "march mar märz mars marzo março maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro",
)
MONTHS: Mapping[str, int] = {
    word: number for number, names in enumerate(_MONTHS, 1) for word in names.split()
}
_WEEKDAYS = (
    "monday montag lundi lunes lunedì maandag segunda-feira",
    "tuesday dienstag mardi martes martedì dinsdag terça-feira",
    "wednesday mittwoch mercredi miércoles mercoledì woensdag quarta-feira",
    "thursday donnerstag jeudi jueves giovedì donderdag quinta-feira",
    "friday freitag vendredi viernes venerdì vrijdag sexta-feira",
    "saturday samstag sonnabend samedi sábado sabato zaterdag",
    "sunday sonntag dimanche domingo domenica zondag",
)
WEEKDAYS: Mapping[str, int] = {
    word: number for number, names in enumerate(_WEEKDAYS) for word in names.split()
}


@cache
def number_words(language: str) -> Mapping[str, int]:
    """The words for numbers below a hundred, in lower case."""
    code = language if language in _SMALL else "en"
    found = {word: n for n, word in enumerate(_SMALL[code].split())}
    found |= {word: 10 * n for n, word in enumerate(_TENS[code].split(), 2)}
    if code == "es":
        found |= {word: n for n, word in enumerate(_ES_TWENTIES.split(), 21)}
    return found | _MORE[code]


def openings(text: str, language: str) -> Iterator[re.Match[str]]:
    """The words of a text that a number in words may begin with; none overlaps another."""
    pattern, first = _opening_words(language)
    if first is None:
        yield from pattern.finditer(text)
        return
    end = 0
    for word in _RUN.finditer(text):
        if word.group().lower() not in first or word.start() < end:
            continue
        if match := pattern.match(text, word.start()):
            end = match.end()
            yield match


@cache
def _opening_words(language: str) -> tuple[re.Pattern[str], frozenset[str] | None]:
    """Their pattern, and what each begins with; None where a word may be joined of several."""
    parts = [*number_words(language), *HUNDREDS, *ORDINALS]
    listed = "|".join(re.escape(word) for word in sorted(parts, key=len, reverse=True))
    joins = language in {"de", "nl"}
    joined = r"|\w*(?:zig|ßig|hundert|tausend|zehn|honderd|duizend|tig)\w*" if joins else ""
    pattern = re.compile(rf"\b(?:(?:{listed})(?:-\w+)*\b{joined})", re.IGNORECASE)
    first = (match for word in parts if (match := _RUN.match(word)))
    return pattern, None if joins else frozenset(match.group() for match in first)


@cache
def compound(word: str, language: str) -> int | None:
    """The value of a German or Dutch number in one word, such as `dreiundzwanzig`."""
    if language not in {"de", "nl"} or len(word) > 40:
        return None
    small = {**number_words(language), "": 0, "ein": 1}
    for sign, size in (("tausend", 1000), ("duizend", 1000), ("hundert", 100), ("honderd", 100)):
        before, found, after = word.partition(sign)
        if found:
            most, rest = compound_part(before or "ein", small), compound_part(after, small)
            deeper = compound(after, language) if rest is None else rest
            return None if most is None or deeper is None else most * size + deeper
    return compound_part(word, small)


def compound_part(word: str, small: Mapping[str, int]) -> int | None:
    """The value below a hundred of a part of a compound."""
    if word in small:
        return small[word]
    one, joined, ten = word.partition(_DE_JOINED)
    if joined and one in small and small.get(ten, 0) >= 20:
        return small[one] + small[ten]
    return None


def stem_of(word: str) -> str:
    """The beginning of a word, which its forms share; empty for a word that says little."""
    if len(word) == 1 and word.isupper():
        return word
    lower = word.lower()
    small = len(lower) < 2 and lower.isascii() and not word.isdigit()
    return "" if small or word in ";:,|\n" or lower in _function_words() else lower[:_STEM]


@cache
def _function_words() -> frozenset[str]:
    return frozenset(w for code in ("en", "de", "fr", "es") for w in FUNCTION_WORDS[code].split())
