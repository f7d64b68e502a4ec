"""The language of a text, by its script and by the words that hold its sentences together."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from sifaka.text.prose import Span

FUNCTION_WORDS = {
    "en": """the and of to is that for with are this it you was be from by not have or we can will
        your has but they which when if its at there what how more than our were been their would
        should could he she his him them us my these those who where why all any some an as on in a
        do does did had about into because only also i me so no just very then here get please
        before after while each most must may being between through out up other don't it's""",
    "de": """der die das und ist nicht ein eine einen einem einer eines den dem des von mit für auf
        im in zu zum zur sich auch werden wird als aber oder wenn dass ich du er sie es wir ihr bei
        nach aus über unter durch wie wo was warum weil bis vom beim am an um bin bist sind war hat
        haben hatte kann können muss müssen mir mich dir dich uns euch ihre mein meine dein sein
        seine kein keine nur noch schon sehr so man dieser diese dieses alle mehr hier dann""",
    "fr": """le la les un une des du de et est en dans que qui pour pas avec sur au aux ce cette ces
        il elle ils elles nous vous je tu on se ne plus par sont été être avoir ont a à son sa ses
        leur leurs mais ou où si comme tout tous toute bien très fait peut même aussi sans donc mon
        ma mes ton notre nos votre vos d'un d'une c'est n'est qu'il j'ai l'on quand deux y entre""",
    "es": """el la los las un una unos unas de del que y en a es por para con no se su sus lo como
        más pero al está están fue son ser hay este esta estos estas esto eso ese cuando donde qué
        porque si sin sobre hasta desde entre también muy ya me te nos le les mi tu yo él ella ellos
        nuestro nuestra todo todos todas puede han ha he era o ni cada otro otra tiene""",
    "it": """il lo la i gli le un uno una di del della dello dei degli delle da dal dalla in nel
        nella nei con su sul sulla per tra che non è e sono si anche come più ma questo questa
        questi perché quando dove molto ho hai ha abbiamo hanno essere stato stata fatto alla alle
        al ai cui suo sua loro mi ti ci noi lui lei io se o chi ogni tutti tutto ancora già""",
    "pt": """o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com que
        não é e se mais mas como ao aos à às seu sua seus suas ele ela eles você nós eu isso isto
        este esta foi são está estão ser ter tem tinha quando onde também muito já ou nem até sem
        sobre entre porque há me te lhe nosso nossa todos todo pode ainda""",
    "nl": """de het een en van in is dat op te niet voor met zijn aan er ook als door maar om bij
        uit nog naar wordt worden werd heeft hebben had was ik je jij hij zij ze we wij u dit deze
        die dan wat wie waar hoe of over tot geen meer veel kan kunnen moet moeten zal zou wel hun
        onze mijn zich omdat daar hier al tegen onder na zo alle andere toen""",
    "sv": """och att det som en är på av för med den till inte har de ett om han hon jag vi var du
        men sig från så kan när nu ska eller hade efter vid också över bara denna detta mycket alla
        vara blev sin utan där här hur vad mig dig oss ni man än mot andra skulle""",
    "da": """og at det som en er på af for med den til ikke har de et om han hun jeg vi var du men
        sig fra så kan når nu skal eller havde efter ved også over kun denne dette meget alle være
        blev sin uden hvor her hvordan hvad mig dig os man end mod andre skulle blive bliver hvis
        noget af nogle""",
    "no": """og at det som en er på av for med den til ikke har de et om han hun jeg vi var du men
        seg fra så kan når nå skal eller hadde etter ved også over bare denne dette mye alle være
        ble sin uten hvor her hvordan hva meg deg oss man enn mot andre skulle bli blir hvis noe
        noen etter mellom""",
    "fi": """ja on ei se että hän oli ovat joka mutta niin kun myös tai kuin sen mitä ne ole olen
        ollut tämä tässä vain jos hänen minä sinä me te he jo nyt kanssa sitä olla voi mukaan jotka
        vielä hyvin sekä ennen koska siitä tämän eivät""",
    "pl": """nie się jest że oraz na z w do dla jak ale czy są był była było być to ten ta tego tym
        przez przy od po za o i a co który która które jego jej ich mi mnie może tylko już tak gdy
        jeśli bardzo także jako ze lub ma mają też przed bo tu tej""",
    "cs": """a je se na v že to s z do o i k za pro jako ale by byl byla bylo jsou být jsem jsme
        který která které ve po od při nebo není si tak už jeho jen také když co jak ze aby až více
        může jejich mezi podle této""",
    "ro": """și de la în cu nu este pe un o din că a fost sunt care mai pentru ce se au sau dar după
        prin ca fi lui ei acest această acesta ale am ai avea fără când unde cum foarte toate tot
        noi voi el ea îl îi le""",
    "tr": """ve bir bu da de için ile çok ne o ben sen biz siz onlar daha gibi ama kadar olarak var
        yok mı mi mu mü değil ki olan her şey en sonra önce ise veya diye bana sana nasıl neden
        olduğu olduğunu""",
}  # fmt: skip
"""By ISO 639-1 code. A word of several languages is in the list of each."""


# --- scripts ---

_SCRIPTS = {
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "cyrillic": "\u0400-\u052f",
    "arabic": "\u0620-\u06ff\u0750-\u077f",
    "kana": "\u3041-\u30ff",
    "han": "\u3400-\u9fff",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "he": "\u05d0-\u05ea",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "th": "\u0e00-\u0e7f",
    "ka": "\u10a0-\u10ff",
    "hy": "\u0530-\u058f",
}
"""The letters of each script. One that a single large language writes has the name of that."""
_LETTERS_OF_ONE = {"han": 3, "kana": 3, "hangul": 2}
"""Letters of an alphabet that carry as much as one sign."""
_TELLTALE_LETTERS = {
    "cyrillic": (("uk", "[іїєґІЇЄҐ]"), ("be", "[ўЎ]"), ("sr", "[ђћјљњџЂЋЈЉЊЏ]")),
    "arabic": (("ur", "[ٹڈڑےں]"), ("fa", "[پچژگکی]")),
}
"""Letters that the script's largest language does not have, of the languages that do."""
_LARGEST = {"cyrillic": "ru", "arabic": "ar", "kana": "ja", "han": "zh", "hangul": "ko"}


@cache
def _compile_letters() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}


def script(text: str) -> tuple[str, float]:
    """The script of most letters, and its share of them; `("", 0.0)` of a text without any."""
    if text.isascii():
        return ("latin", 1.0) if _compile_letters()["latin"].search(text) else ("", 0.0)
    counts = {
        name: len(letters.findall(text)) * _LETTERS_OF_ONE.get(name, 1)
        for name, letters in _compile_letters().items()
    }
    if counts["kana"]:
        # Japanese writes both; Chinese has no kana.
        counts["kana"] += counts.pop("han")
    total = sum(counts.values())
    if not total:
        return "", 0.0
    first = max(counts, key=lambda name: counts[name])
    return first, counts[first] / total


def language_of_script(name: str, text: str) -> str | None:
    """The ISO 639-1 code of a text in this script; None where that takes more than letters."""
    if name in {"latin", ""}:
        return None
    letters = len(_compile_letters()[name].findall(text))
    for language, own in _TELLTALE_LETTERS.get(name, ()):
        if len(re.findall(own, text)) > 0.01 * letters:
            return language
    hard_signs = len(re.findall("[ъЪ]", text))
    # Two in a hundred letters of Bulgarian are this one, in Russian three in ten thousand.
    if name == "cyrillic" and hard_signs > 0.005 * letters and not re.search("[ыэЫЭ]", text):
        return "bg"
    return _LARGEST.get(name, name)


# --- the language of a text ---

LEAST_LETTERS = 20
"""With fewer, a name or a loan word would decide."""
_LEAST_OF_DENSE_SCRIPT = 6
"""The same for scripts that only one language is written in."""
SAMPLE = 10_000
"""Characters that are looked at of the beginning, the middle and the end of a long text."""
OWN_LANGUAGES = frozenset(FUNCTION_WORDS) | {
    *("ru", "uk", "be", "bg", "sr", "ar", "fa", "ur", "ja", "zh", "ko"),
    *("el", "he", "hi", "bn", "ta", "te", "th", "ka", "hy"),
}
"""The languages that are recognised here, by their words or by their letters."""
SURE_SCRIPTS = frozenset({"kana", "hangul", "el", "he", "bn", "ta", "te", "th", "ka", "hy", "han"})
"""Scripts that leave little doubt about the language."""
_LEAST_EVIDENCE = 0.08
"""Share of function words below which a text is a list of names, or of an unknown language."""

_NAMES = """
    en english englische englisch anglais inglés
    fr french französische französisch français francés
    de german deutsche deutsch allemand alemán / es spanish spanische spanisch espagnol español
    it italian italienische italien / pt portuguese / nl dutch / pl polish / ru russian
    zh chinese mandarin / ja japanese / ko korean / ar arabic / tr turkish / sv swedish
    da danish / no norwegian / fi finnish / cs czech / el greek / hi hindi / uk ukrainian
    he hebrew / la latin / th thai / vi vietnamese / id indonesian / hu hungarian / ro romanian
    bg bulgarian / hr croatian / sr serbian / sk slovak / ca catalan / fa persian farsi
    ur urdu / bn bengali / ta tamil / sw swahili / cy welsh / ga irish / eo esperanto
"""
_NAMED = tuple(line.split() for line in _NAMES.replace("\n", " / ").split(" / ") if line.strip())
_LANGUAGES = {name: code for code, *names in _NAMED for name in names}
"""The codes of languages by the words that a task names them with."""
LANGUAGE_NAMES = {code: name.capitalize() for code, name, *_ in _NAMED}
"""The English names of languages by their codes."""
_INTO = re.compile(
    r"\b(?:(?:in|into|to|auf|ins|en|al)[ ]|(?=\w{4,20}[ ](?:version|fassung|translation)))"
    rf"(?P<language>{'|'.join(_LANGUAGES)})(?![-\w])",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    rf"\s*[,/]?\s*(?:(?:and|or|und|oder|et|ou|y|o)\s+)?(?:{'|'.join(_LANGUAGES)})\b", re.IGNORECASE
)
_TRANSLATE = re.compile(
    r"\btranslat|übersetz|\btradui|\btraduc|\btraduz|翻译|翻譯|翻訳|译成|перевед|번역"
    r"|\bvertaa?l|\böversätt|\bovers[æe]tt|\bkäännä|tłumacz|\bpřelož|\bprelož|\bçevir|\bfordíts|\bdịch\b"
    r"|\bterjemah|переклад|перевод|превед|ترجم|แปล|μεταφρ|अनुवाद|תרג",
    re.IGNORECASE,
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_OWN_LETTERS = {
    "de": "ßü", "fr": "èêëçœùûîï", "es": "ñ¿¡", "pt": "ãõç", "it": "òì", "sv": "å", "da": "æø",
    "no": "æøå", "fi": "äö", "pl": "łąęśżźćń", "cs": "ěřůšžčý", "ro": "șțăâî", "tr": "ğışçöü",
}  # fmt: skip


class DetectedLanguage(NamedTuple):
    """The language of a text, and how sure that is."""

    language: str | None
    """ISO 639-1; None where it is not recognised."""
    confidence: float = 0.0
    scores: tuple[tuple[str, float], ...] = ()
    """The languages that were weighed, 0 to 1."""
    short: bool = False
    """True of a text with too few letters."""


def tell_language(prose: str) -> DetectedLanguage:
    """The language of most of a text; of a long one, the beginning, middle and end are read."""
    prose = sample(prose)
    written, share = script(prose)
    if not is_enough(prose, written):
        return DetectedLanguage(None, short=True)
    language = language_of_script(written, prose)
    if language:
        confidence = round(share * (0.9 if written in SURE_SCRIPTS else 0.75), 2)
        return DetectedLanguage(language, confidence, ((language, confidence),))
    scores = _weigh_languages(prose)
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    best, second = scores[ranked[0]], scores[ranked[1]]
    if best < _LEAST_EVIDENCE:
        return DetectedLanguage(None)
    # The lead says more than the height: related languages share half of these words.
    confidence = round(share * min(0.95, 0.3 + (best - second) / best), 2)
    weighed = tuple((code, round(min(1.0, scores[code]), 3)) for code in ranked[:3])
    return DetectedLanguage(ranked[0], confidence, weighed)


def asks_for_translation(task: str) -> bool:
    """True when a task asks for a text in another language, or names the language of the text."""
    return bool(_TRANSLATE.search(task) or _INTO.search(task))


def translation_into(task: str) -> frozenset[str] | None:
    """The languages that a task asks to translate into; None when it does not say `translate`.

    Empty where it names none that is known.
    """
    named = (_LANGUAGES[match["language"].lower()] for match in _INTO.finditer(task))
    return frozenset(named) if _TRANSLATE.search(task) else None


def languages_named(task: str) -> Iterator[tuple[Span, str]]:
    """The languages behind words such as `in`: the place of both words, and the code.

    One that another follows (`in English and German`) is left out.
    """
    return (
        (match.span(), _LANGUAGES[match["language"].lower()])
        for match in _INTO.finditer(task)
        if not _ANOTHER.match(task, match.end())
    )


def is_enough(prose: str, written: str) -> bool:
    """True when a text of this script has the letters that it takes to tell its language."""
    least = _LEAST_OF_DENSE_SCRIPT if written in SURE_SCRIPTS else LEAST_LETTERS
    return sum(1 for _ in islice(_LETTER.finditer(prose), least)) == least


def sample(prose: str) -> str:
    """The beginning, the middle and the end of a long text."""
    if len(prose) <= 3 * SAMPLE:
        return prose
    middle = len(prose) // 2
    return " ".join((prose[:SAMPLE], prose[middle : middle + SAMPLE], prose[len(prose) - SAMPLE :]))


def _weigh_languages(prose: str) -> dict[str, float]:
    """The share of words that hold a language together, and a little for letters of its own."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(prose)]
    total = max(1, len(words))
    letters = max(1, sum(map(len, words)))
    joined = "".join(words)
    own = {} if joined.isascii() else _OWN_LETTERS
    scores = {
        code: 2 * sum(map(joined.count, own.get(code, ""))) / letters for code in FUNCTION_WORDS
    }
    languages = _index_languages()
    for word in words:
        if codes := languages.get(word):
            # A word of several languages says less about each.
            weight = 1 / len(codes) ** 0.5 / total
            for code in codes:
                scores[code] += weight
    return scores


@lru_cache(maxsize=1)
def _index_languages() -> dict[str, tuple[str, ...]]:
    """The languages of each function word."""
    languages: dict[str, tuple[str, ...]] = {}
    for code, listed in FUNCTION_WORDS.items():
        for word in set(listed.split()):
            languages[word] = (*languages.get(word, ()), code)
    return languages
