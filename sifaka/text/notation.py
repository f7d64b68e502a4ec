"""Words and signs that numbers, dates, times and units are written with: notation, no meaning.

English, German, French and Spanish, and the signs of Chinese and Japanese.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

LONGEST_NUMERAL = 30
"""Digits; what is longer is a code, not a quantity."""

_NUMBERS = {
    "en": """half:1/2 quarter:1/4 quarters:1/4 thirds:1/3 one:1 an:1 two three four five six
        seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
        nineteen
        twenty thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 dozen:12
        first:1 second:2 third:3 fourth fifth sixth seventh eighth ninth tenth eleventh twelfth""",
    "de": """anderthalb:3/2 eineinhalb:3/2 zweieinhalb:5/2
        halb:1/2 halbe:1/2 halben:1/2 halber:1/2 hälfte:1/2 viertel:1/4 ein:1 eine:1 einen:1
        einer:1 eins:1 zwei:2 drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
        fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig:30 vierzig:40 fünfzig:50
        sechzig:60 siebzig:70 achtzig:80 neunzig:90 dutzend:12 erste:1 ersten:1 zweite:2 zweiten:2
        dritte:3 dritten:3 vierte:4 vierten:4""",
    "fr": """moitié:1/2 demi:1/2 demie:1/2 quart:1/4 un:1 une:1 deux:2 trois quatre cinq six sept
        huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt
        trente:30 quarante:40 cinquante:50 soixante:60 douzaine:12 premier:1 première:1 deuxième:2
        troisième:3 quatrième cinquième""",
    "es": """mitad:1/2 medio:1/2 media:1/2 cuarto:1/4 un:1 una:1 dos:2 tres cuatro cinco seis siete
        ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve
        veinte treinta:30 cuarenta:40 cincuenta:50 sesenta:60 docena:12 primer:1 primero:1
        primera:1 segundo:2 segunda:2 tercer:3 tercero:3 tercera:3 cuarta:4 quinto quinta:5""",
}
"""Words of numbers; where no value is given it is one more than that of the word before."""

_SCALES = """
    100 hundred hundert cent ciento
    1000 k thousand tausend mille mil tsd 千
    10000 万 萬
    1000000 m mn mio mln million millions millionen millón millones
    100000000 亿 億
    1000000000 b bn mrd billion billions milliarde milliarden milliard milliards
    1000000000000 trillion trillions
"""
_UNITS = """
    m 1 m metre metres meter meters mètre mètres metro metros metern 米 メートル
    m 1/1000 mm millimetre millimetres millimeter millimeters milímetros 毫米
    m 1/100 cm centimetre centimetres centimeter centimeters zentimeter centímetros 厘米
    m 1000 km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres kilómetros
    m 1000 公里
    ~m 1609344/1000 mi mile miles meile meilen milla millas 英里
    ~m 3048/10000 ft foot feet fuß pied pieds pies
    ~m 254/10000 in inch inches zoll pouce pouces pulgadas
    ~m 9144/10000 yd yard yards
    g 1 g gram grams gramm gramme grammes gramo gramos 克 グラム
    g 1/1000 mg milligram milligrams milligramm
    g 1000 kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramos 公斤
    g 1000 千克 キロ
    g 1000000 t tonne tonnes tonnen toneladas 吨
    ~g 45359237/100000 lb lbs
    ~g 28349523125/1000000000 oz ounce ounces
    l 1 l litre litres liter liters litern litro litros 升 リットル
    l 1/1000 ml millilitre millilitres milliliter milliliters mililitros 毫升
    l 1/100 cl
    l 1/10 dl
    ~l 3785411784/1000000000 gal gallon gallons
    ~l 473176473/1000000000 pint pints
    ~l 2365882365/10000000000 cup cups
    s 1/1000 ms millisecond milliseconds
    s 1 s sec secs second seconds sekunde sekunden seconde secondes segundos 秒
    s 60 min min. mins minute minutes minuten minuto minutos 分钟 分鐘 分
    s 3600 h hr hrs hour hours stunde stunden std heure heures hora horas 小时 小時 時間
    s 86400 day days tag tage tagen jour jours día días 天 日間
    s 604800 wk wks week weeks woche wochen semaine semaines semana semanas 周 週間
    months 1 month months monat monate monaten mois mes meses 个月 個月 か月
    months 12 yr yrs year years jahr jahre jahren an ans année années año años 年間
    B 1 byte bytes
    B 1000 kb
    B 1000000 mb megabyte megabytes
    B 1000000000 gb gigabyte gigabytes
    B 1000000000000 tb terabyte terabytes
    W 1 watt watts
    W 1000 kw
    W 1000000 megawatt megawatts
    Wh 1000 kwh
    % 1 % percent per_cent pct prozent pourcent pour_cent por_ciento
    °C 1 °c
    ~°C 5/9 °f
    usd 1 $ us$ usd dollar dollars dólar dólares 美元 ドル
    usd 1/100 cents
    eur 1 € eur euro euros 欧元 歐元 ユーロ
    gbp 1 £ gbp pound pounds pfund quid
    gbp 1/100 p pence
    chf 1 chf franken fr. francs
    jpy 1 ¥ jpy yen 日元 円
    cny 1 cny rmb yuan 元
    inr 1 ₹ inr rs rupees
    pln 1 pln zł
    kr 1 kr sek nok dkk
"""
MONEY = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "pln", "kr"})
_MONTHS = """
    jan january januar jänner janvier janv enero ene / feb february februar février févr febrero /
    mar march märz mrz mars marzo / apr april avril avr abril abr / may mai mayo /
    jun june juni juin junio / jul july juli juillet juil julio / aug august août agosto ago /
    sep sept september septembre septiembre / oct october oktober okt octobre octubre /
    nov november novembre noviembre / dec december dezember dez décembre déc diciembre dic
"""
_WEEKDAYS = """
    mon monday montag lundi lunes 星期一 周一 週一 月曜日 / tue tues tuesday dienstag mardi martes
    星期二 周二 週二 火曜日 / wed weds wednesday mittwoch mercredi miércoles 星期三 周三 週三
    水曜日 /
    thu thur thurs thursday donnerstag jeudi jueves 星期四 周四 週四 木曜日 / fri friday freitag
    vendredi viernes 星期五 周五 週五 金曜日 / sat saturday samstag sonnabend samedi sábado 星期六
    周六 週六 土曜日 / sun sunday sonntag dimanche domingo 星期日 星期天 周日 週日 日曜日
"""
RANGE = (
    r"(?:\s{0,3}(?:-|/)\s{0,3}"
    r"|\s{1,3}(?:to|and|until|till|through|bis|und|à|au|et|a|al|y|hasta)\s{1,3})"
)


def _index(groups: str) -> dict[str, int]:
    """The place of each group, from 1, by each of its words."""
    return {w: n for n, group in enumerate(groups.split("/"), 1) for w in group.split()}


def _read_values(words: str) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    for entry in words.split():
        word, _, value = entry.partition(":")
        values[word] = Fraction(value) if value else [*values.values()][-1] + 1
    return values


MONTHS: Mapping[str, int] = _index(_MONTHS)
WEEKDAYS: Mapping[str, int] = _index(_WEEKDAYS) | _index("mo / di / mi / do / fr / sa / so")
NUMBER_WORDS: Mapping[str, Mapping[str, Fraction]] = {
    code: _read_values(words) for code, words in _NUMBERS.items()
}
SCALES: Mapping[str, int] = {
    word: int(size)
    for size, *words in (line.split() for line in _SCALES.strip().splitlines())
    for word in words
}
UNITS: Mapping[str, tuple[str, Fraction]] = {
    name.replace("_", " "): (dimension, Fraction(factor))
    for dimension, factor, *names in (line.split() for line in _UNITS.strip().splitlines())
    for name in names
}
"""The dimension and the factor of each unit; `~` marks those that are converted by rounding."""


def any_of(words: Iterable[str]) -> str:
    """A pattern of all of the words, the longer ones first, with what they begin with written once.

    `re` tries each alternative at each place of a text, and slowly where case is ignored.
    """
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    parts = [re.escape(first) + any_of(rest) for first, rest in endings.items() if first]
    return f"(?:{'|'.join(parts)}){'?' * ('' in endings)}" if parts else ""


def numeral_readings(numeral: str) -> tuple[Fraction, ...]:
    """The values that a numeral in digits may have: `1.250` is 1250 or 1.25.

    Empty where it is no quantity: `2.4.1`, or too long.
    """
    first, *groups = re.split("[.,]", plain := numeral.replace("'", ""))
    marks = re.sub(r"\d", "", plain)
    if len(plain) > LONGEST_NUMERAL or not groups:
        return (Fraction(plain),) if len(plain) <= LONGEST_NUMERAL else ()
    whole = Fraction(first + "".join(groups))
    decimal = Fraction(f"{first}{''.join(groups[:-1])}.{groups[-1]}")
    grouped = 0 < len(first) <= 3 and first != "0" and all(len(group) == 3 for group in groups)
    if len(marks) == 1:
        return (whole, decimal)[: 1 + (marks == ".")] if grouped else (decimal,)
    if marks[-1] not in marks[:-1]:
        return (decimal,)
    # India groups by two: 12,50,000.
    by_two = marks[0] == "," and len(groups[-1]) == 3
    return (whole,) if len(set(marks)) == 1 and (grouped or by_two) else ()


def shown_number(value: Fraction) -> str:
    """A number in one notation."""
    return str(value.numerator) if value.denominator == 1 else format(float(value), ".9g")
