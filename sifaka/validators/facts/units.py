"""Units of measure and currencies, in the languages that are read."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache

from sifaka.validators.facts.fact import Key

SPACE = "\u00a0\u202f\u2009 "
"""Spaces that may stand inside a number, or before its unit."""
UNIT = re.compile(
    rf"[{SPACE}-]?(?:d['’]|de |di )?(?P<unit>°[{SPACE}]?[CFK]\b|[%％‰]|[$€£¥₹]"
    rf"|[A-Za-zµμ]+[²³](?!\w)"
    rf"|[^\W\d_]+(?:[ ](?:cent|franc|francs|ciento|cento|sterling)\b|[ -]hours?\b)?)"
    r"(?:/(?P<per>[^\W\d_]+))?"
)
_UNSPACED = """
    公里 公斤 千克 厘米 毫米 英里 美元 欧元 歐元 日元 小时 小時 分钟 分鐘 個月 个月
    ドル ユーロ キロ グラム メートル 時間 元 円 米 克 升 秒 天
"""
UNSPACED = tuple(_UNSPACED.split())
"""Units that follow a number without a space, the longer ones first."""
_HOURS = re.compile(r"[ -](hours?)$")
_SQUARE = re.compile(r"[ ](?:carr|quadrat|cuadrad|quadrad)")

_UNITS = """
length 1 m metre metres meter meters mètre mètres metro metros metri 米 м メートル
length 1/1000 mm millimetre millimetres millimeter millimeters 毫米
length 1/100 cm centimetre centimetres centimeter centimeters zentimeter centímetros 厘米
length 1000 km kilometre kilometres kilometer kilometers kilomètre kilomètres kilómetros 公里 км
length 1609344/1000 mi mile miles meile meilen mille milles milla millas 英里
length 3048/10000 ft foot feet fuß pieds pies
length 254/10000 inch inches zoll pouces pulgadas
length 9144/10000 yd yard yards
mass 1 g gram grams gramm gramme grammes gramo gramos 克 グラム
mass 1/1000 mg milligram milligrams milligramm
mass 1/1000000 µg μg mcg microgram micrograms
mass 1000 kg kilogram kilograms kilo kilos kilogramm kilogrammes kilogramos 公斤 千克 кг キロ
mass 1000000 t tonne tonnes tonnen
mass 45359237/100000 lb lbs
mass 28349523125/1000000000 oz ounce ounces
volume 1 l litre litres liter liters litro litros 升
volume 1/1000 ml millilitre millilitres milliliter milliliters
volume 1/100 cl
volume 3785411784/1000000000 gal gallon gallons
volume 473176473/1000000000 pint pints
volume 1/67 tbsp tablespoon tablespoons
volume 1/200 tsp teaspoon teaspoons
area 1 m² m2 sqm
area 1000000 km² km2
area 10000 ha hectare hectares hektar
time 1 s sec secs second seconds sekunde sekunden seconde secondes segundo segundos seconden 秒
time 1/1000 ms millisecond milliseconds
time 60 min mins minute minutes minuten minuto minutos minuti 分钟 分鐘
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas ore 小时 小時 時間
time 86400 day days tag tage tagen jour jours día días giorni 天
time 604800 week weeks woche wochen semaine semaines semana semanas
months 1 month months monat monate monaten mois mes meses mesi 个月 個月
months 12 year years jahr jahre jahren an ans année années año años anni лет
data 1 byte bytes
data 1000 kb kilobyte kilobytes
data 1000000 mb megabyte megabytes
data 1000000000 gb gigabyte gigabytes
data 1000000000000 tb terabyte terabytes
power 1 watt watts
power 1000 kw kilowatt kilowatts
power 1000000 megawatt megawatts
power 1000000000 gw gigawatt gigawatts
energy 1 wh watt-hour watt-hours wattstunde wattstunden
energy 1000 kwh kilowatt-hour kilowatt-hours kilowattstunde kilowattstunden
energy 1000000 mwh megawatt-hour megawatt-hours megawattstunde megawattstunden
energy 1000000000 gwh gigawatt-hour gigawatt-hours gigawattstunde gigawattstunden
volt 1 volt volts
hertz 1 hz hertz
hertz 1000 khz kilohertz
hertz 1000000 mhz megahertz
hertz 1000000000 ghz gigahertz
% 1 % ％ percent per_cent pct prozent pourcent pour_cent por_ciento per_cento por_cento procent
usd 1 $ usd us$ dollar dollars dólares dólar dollari 美元 ドル buck bucks
eur 1 € eur euro euros 欧元 歐元 ユーロ
gbp 1 £ gbp pound_sterling
chf 1 chf franken swiss_franc swiss_francs
yen 1 ¥ jpy yen 日元 円
yuan 1 cny rmb yuan 元
inr 1 ₹ inr rupee rupees rupien
krone 1 kroner kronor kronen krone kr sek nok dkk
peso 1 peso pesos
mark 1 marks mark
"""
_MONEY = frozenset({"usd", "eur", "gbp", "chf", "yen", "yuan", "inr", "krone", "peso", "mark"})
_CASED = """
data 1000000 MB
data 1000000000 GB
data 1000000000000 TB
data 1000 KB
data 1 B
volume 1 L
volt 1 V
power 1 W
power 1000 kW
power 1000000 MW
hertz 1 Hz
hertz 1000000 MHz
usd 1 USD
eur 1 EUR
gbp 1 GBP
chf 1 CHF
"""
"""Units that are told by their capitals."""

KELVIN = "temperature"
POUND = Fraction(45359237, 100000)
"""Grams."""


def units() -> Mapping[str, tuple[str, Fraction]]:
    """The dimension and the factor of every unit, by its name in lower case."""
    return _read(_UNITS)


@cache
def _read(table: str) -> Mapping[str, tuple[str, Fraction]]:
    found: dict[str, tuple[str, Fraction]] = {}
    for line in table.strip().splitlines():
        dimension, factor, *names = line.split()
        for name in names:
            found[name.replace("_", " ")] = (dimension, Fraction(factor))
    return found


def unit_of(word: str) -> tuple[str, Fraction] | None:
    """The dimension and the factor of a unit; None of a word that is none.

    A pound is a weight or money; both are the unit `pound`.
    """
    if (cased := _read(_CASED).get(word)) is not None:
        return cased
    lower = word.lower().rstrip(".")
    if lower in {"pound", "pounds", "pfund"}:
        return "pound", Fraction(1)
    return units().get(lower)


def is_money(dimension: str) -> bool:
    """True for a currency."""
    return dimension in _MONEY or dimension == "pound"


def unit_after(text: str, end: int) -> tuple[str, Fraction, int]:
    """The dimension and the factor of the unit at a place, and its end; no unit is empty."""
    for name in UNSPACED:
        if text.startswith(name, end):
            dimension, factor = units()[name]
            return dimension, factor, end + len(name)
    after = UNIT.match(text, end)
    if after is None:
        return "", Fraction(1), end
    word = after["unit"]
    if word.startswith("°"):
        return f"°{word[-1]}", Fraction(1), after.end("unit")
    found = unit_of(_HOURS.sub(r"-\1", word))
    if found is None and (first := re.match(r"[^\W\d_]+(?=[ -])", word)):
        word = first[0]
        found = unit_of(word)
    if found is None:
        return "", Fraction(1), end
    stop = after.start("unit") + len(word)
    if _SQUARE.match(text, stop):
        return "", Fraction(1), stop
    if after["per"] and (per := unit_of(after["per"])):
        return f"{found[0]}/{per[0]}", found[1] / per[1], after.end()
    return found[0], found[1], stop


def keys_of(values: list[Fraction], dimension: str, factor: Fraction) -> Iterator[Key]:
    """The readings of a number with a unit, in the unit that all of its dimension share."""
    for value in values:
        if dimension == "°C":
            yield (KELVIN, value)
        elif dimension == "°F":
            yield (KELVIN, (value - 32) * 5 / 9)
        else:
            yield (dimension, value * factor)
