"""Words for numbers, months, days and units, in the languages that are read."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

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
HUNDREDS: Mapping[str, int] = {
    "hundred": 100, "hundert": 100, "cent": 100, "cents": 100, "cien": 100, "ciento": 100,
    "cento": 100, "cem": 100, "honderd": 100,
}  # fmt: skip
SCALES: Mapping[str, int] = {
    "thousand": 10**3, "tausend": 10**3, "mille": 10**3, "mil": 10**3, "mila": 10**3,
    "duizend": 10**3, "million": 10**6, "millions": 10**6, "millionen": 10**6, "mio": 10**6,
    "millón": 10**6, "millones": 10**6, "milione": 10**6, "milioni": 10**6, "milhão": 10**6,
    "milhões": 10**6, "miljoen": 10**6, "billion": 10**9, "milliarde": 10**9,
    "milliarden": 10**9, "milliard": 10**9, "milliards": 10**9, "mrd": 10**9, "miliardi": 10**9,
    "trillion": 10**12, "bn": 10**9, "mn": 10**6, "тысяч": 10**3, "миллионов": 10**6,
    "миллиона": 10**6, "миллиардов": 10**9, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8,
    "千": 10**3, "百万": 10**6, "百萬": 10**6, "千万": 10**7,
}  # fmt: skip
"""Words that multiply the number before them."""
JOINERS = frozenset({"and", "und", "et", "y", "e", "en"})
_DE_JOINED = "und"
ORDINALS: Mapping[str, int] = {
    word: n
    for n, words in enumerate(
        "first,erste,premier second,zweite,deuxième third,dritte,troisième fourth,vierte "
        "fifth,fünfte sixth,sechste seventh,siebte eighth,achte ninth,neunte tenth,zehnte".split(),
        1,
    )
    for word in words.split(",")
}
FRACTIONS: Mapping[str, int] = {
    "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5, "tenths": 10,
    "drittel": 3, "viertel": 4, "fünftel": 5, "tiers": 3, "quarts": 4, "tercios": 3,
    "cuartos": 4, "terzi": 3, "terços": 3,
}  # fmt: skip
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

_UNITS = """
length 1 m metre metres meter meters mètre mètres metro metros metri 米 м
length 1/1000 mm millimetre millimetres millimeter millimeters 毫米
length 1/100 cm centimetre centimetres centimeter centimeters zentimeter centímetros 厘米
length 1000 km kilometre kilometres kilometer kilometers kilomètre kilomètres kilómetros 公里 км
length 1609344/1000 mi mile miles meile meilen mille milles milla millas 英里
length 3048/10000 ft foot feet fuß pieds pies
length 254/10000 inch inches zoll pouces pulgadas
length 9144/10000 yd yard yards
mass 1 g gram grams gramm gramme grammes gramo gramos 克
mass 1/1000 mg milligram milligrams milligramm
mass 1/1000000 µg μg mcg microgram micrograms
mass 1000 kg kilogram kilograms kilo kilos kilogramm kilogrammes kilogramos 公斤 千克 кг
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
time 60 min mins minute minutes minuten minuto minutos minuti 分钟
time 3600 h hr hrs hour hours stunde stunden heure heures hora horas ore 小时
time 86400 day days tag tage tagen jour jours día días giorni
time 604800 week weeks woche wochen semaine semaines semana semanas
months 1 month months monat monate monaten mois mes meses mesi
months 12 year years jahr jahre jahren an ans année années año años anni лет
data 1 b byte bytes
data 1000 kb
data 1000000 mb
data 1000000000 gb
data 1000000000000 tb
power 1 w watt
power 1000 kw
volt 1 v volt volts
hertz 1 hz
hertz 1000000 mhz
% 1 % ％ percent per_cent pct prozent pourcent pour_cent por_ciento per_cento por_cento procent
usd 1 $ usd us$ dollar dollars dólares dólar dollari 美元 buck bucks
eur 1 € eur euro euros 欧元
gbp 1 £ gbp pound_sterling
chf 1 chf franken swiss_franc swiss_francs
yen 1 ¥ jpy yen 日元
yuan 1 cny rmb yuan 元
inr 1 ₹ inr rupee rupees rupien
krone 1 kroner kronor kronen krone kr sek nok dkk
peso 1 peso pesos
mark 1 marks mark
"""
_MONEY = frozenset({"usd", "eur", "gbp", "chf", "yen", "yuan", "inr", "krone", "peso", "mark"})
_CASED = {"MB": ("data", 10**6), "GB": ("data", 10**9), "KB": ("data", 1000), "TB": ("data", 10**12),
          "L": ("volume", 1), "V": ("volt", 1), "W": ("power", 1), "kW": ("power", 1000),
          "Hz": ("hertz", 1), "MHz": ("hertz", 10**6), "B": ("data", 1), "USD": ("usd", 1),
          "EUR": ("eur", 1), "GBP": ("gbp", 1), "CHF": ("chf", 1)}  # fmt: skip
KELVIN = "temperature"


@cache
def units() -> Mapping[str, tuple[str, Fraction]]:
    """The dimension and the factor of every unit, by its name in lower case."""
    found: dict[str, tuple[str, Fraction]] = {}
    for line in _UNITS.strip().splitlines():
        dimension, factor, *names = line.split()
        for name in names:
            found[name.replace("_", " ")] = (dimension, Fraction(factor))
    return found


def unit_of(word: str) -> tuple[str, Fraction] | None:
    """The dimension and the factor of a unit; None of a word that is none.

    A pound is a weight or money; both are the unit `pound`.
    """
    if word in _CASED:
        dimension, factor = _CASED[word]
        return dimension, Fraction(factor)
    lower = word.lower().rstrip(".")
    if lower in {"pound", "pounds", "pfund"}:
        return "pound", Fraction(1)
    if lower == "mb" and word != "MB":
        return None
    return units().get(lower)


def is_money(dimension: str) -> bool:
    """True for a currency."""
    return dimension in _MONEY or dimension == "pound"


@cache
def number_words(language: str) -> Mapping[str, int]:
    """The words for numbers below a hundred, in lower case."""
    code = language if language in _SMALL else "en"
    found = {word: n for n, word in enumerate(_SMALL[code].split())}
    found |= {word: 10 * n for n, word in enumerate(_TENS[code].split(), 2)}
    if code == "es":
        found |= {word: n for n, word in enumerate(_ES_TWENTIES.split(), 21)}
    return found | _MORE[code]


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
