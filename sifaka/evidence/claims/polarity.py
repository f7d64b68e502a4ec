"""Negation and comparison in a claim and in the sentence that is quoted for it."""

import re
from collections.abc import Iterator, Sequence

from sifaka.evidence.passages import overlap, stems

_CLAUSE = re.compile(
    r"[;:—–]\s*+|,\s++(?=(?:and|but|while|whereas|although|though|which|who|not|they|it|except|also"
    r"|und|aber|während|sondern|mais|et|dont|pero|y|sino)\b)|,\s++(?=\w)"
    r"|(?<!\s)\s++(?=(?:but|while|whereas|although|aber|sondern|mais|pero|sino)\b)",
    re.IGNORECASE,
)
_AND = re.compile(
    r"\s+(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|ma|en|maar|och|men|og)\s+",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|except|excluding"
    r"|fail(?:s|ed|ing)?\s+to|lack(?:s|ed|ing)?|skip(?:s|ped|ping)?|hardly|barely|instead\s+of|rather\s+than"
    r"|unless|prohibited|forbidden|banned|illegal|impossible|unable|refus(?:es|ed)|den(?:y|ies|ied)"
    r"|nicht|nichts|nie|niemals|niemand|kein(?:e|en|er|em|es)?|ohne|weder|außer|verboten"
    r"|ne|pas|jamais|aucune?|sans|ni|sauf|personne|interdite?s?|non|senza|nessun[oa]?"
    r"|nunca|jamás|ningun[oa]?|ningún|sin|tampoco|salvo|nadie|prohibid[oa]s?|não|nem|sem|nenhuma?"
    r"|niet|nooit|geen|zonder|inte|ej|aldrig|ing(?:en|et)|ikke|ikkje|aldri|ingen|intet|uden|uten"
    r"|ei|eivät|ilman|nincs|soha|nélkül|nigdy|bez|brak|není|nejsou|neby\w+|nikdy|nemá|nelze|nije|nisu"
    r"|nu\s+(?:este|e|a|au|sunt|se|are)|değil\w*|yok|hiç|asla|không|chưa|chẳng|tidak|bukan|belum|tanpa"
    r"|не|ни|ні|нет|немає|нельзя|никогда|ніколи|без|δεν|δε|μην|ούτε|ποτέ|χωρίς"
    r"|ليس\w*|لا|لم|لن|غير|بدون|لا|לא|אין|אינ\w+|בלי|ללא|مگر|نیست)\b|n[’']t\b|\bn[’']"
    r"|[不没沒无無]|未(?![来來])|ない|なかった|ません|않|없|아니|नहीं|बिना|ไม่|มิได้",
    re.IGNORECASE,
)
_ABLE = re.compile(
    r"(\b(?:kann|können|muss|müssen|darf|dürfen|konnten?|mussten?|durften?)\b[^.;]{0,200}?)\bwerden\b"
)
"""A German passive after a modal verb, in which `werden` tells no future."""
_UNASSERTED = re.compile(
    r"[?？]\W*$|\b(?:if|whether|wrongly|falsely|mistakenly|incorrectly|erroneously|supposedly|allegedly"
    r"|untrue|myths?|hoax(?:es)?|rumou?rs?|misconceptions?|wenn|falls|ob|angeblich|fälschlich(?:erweise)?"
    r"|prétendument|soi-disant|supuestamente)\b",
    re.IGNORECASE,
)
"""Marks of words that ask, suppose or doubt something, and do not say that it is so."""
_LESS_THAN_SO = tuple(
    (re.compile(said, re.IGNORECASE), re.compile(f"{said}|{also}", re.IGNORECASE))
    for said, also in (
        (
            r"\b(?:(?-i:may|might)|perhaps|possibly|probably|potentially|could\s+have|would\s+have|would\s+be"
            r"|should\s+have|möglicherweise|vielleicht|könnten?|dürften?|peut-être|pourrait|quizás?"
            r"|podría)\b",
            r"\b(?:can|could|possible|likely|allow\w*|permit\w*|welcome|estimated|about)\b",
        ),
        (
            r"\b(?:plans?|planned|propos\w+|intend\w*|hop(?:es?|ed)|expected|expects?|forecasts?|predict\w*|anticipat\w*|scheduled|will"
            r"|geplant|soll(?:en|te)?|wird|werden|prévu\w*|doit|previst[oa]s?)\b",
            r"\b(?:shall|going|future|to\s+be|idea|want\w*|next|wurden?)\b",
        ),
        (
            r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )(?<!been )\bused\s+to\b"
            r"|\b(?:formerly|früher|autrefois)\b",
            r"\b(?:once|until|was|were|had|did|been|ran|former|\w{2,}ed|war|hatte|wurde\w*|était)\b",
        ),
        (
            r"\b(?:claim\w*|alleg\w+|believ\w+|suspect\w*|argu(?:e|es|ed)|assum\w+|disput\w+|doubt\w*"
            r"|false|behaupte\w*|prétend\w*|afirm\w+)\b",
            r"\b(?:sa(?:y|ys|id)|according|think|thought|opinion|view|reported\w*|stat(?:es|ed))\b",
        ),
    )
)
"""Marks of what is possible, planned, over or only said; those of a claim that says as much."""
_PERIOD = r"(?:second|minute|hour|day|night|week|month|year)\b"
_ALL = (
    r"\b(?:(?<!at )(?<!in )(?<!above )all(?!\s+(?:over|in|but|\d))|(?:every|each)(?!\s+"
    + _PERIOD
    + r")|always|entire(?:ly)?"
    r"|whole|everyone|everything|alle[nrs]?|jede[rnms]?|immer|tous|toutes|chaque|todos|todas|siempre"
)
_ONLY = (
    r"\b(?:only|solely|exclusively|sole|alone|allein|nur|seulement|uniquement|solo|sólo|solamente"
)
_WHOLLY = tuple(
    (
        re.compile(rf"{said})\b", re.IGNORECASE),
        re.compile(rf"{said}|{also})\b", re.IGNORECASE),
    )
    for said, also in (
        (
            _ALL,
            r"both|any|throughout|total|entirety|no|none|per|daily|hourly|weekly|yearly"
            r"|annual(?:ly)?",
        ),
        (
            r"\b(?:(?:every|each)\s+" + _PERIOD,
            r"an?\s+" + _PERIOD + r"|per|all|always|throughout|hourly|daily|nightly|weekly|monthly"
            r"|yearly|annual(?:ly)?",
        ),
        (
            _ONLY,
            r"single|just|no\s+other|except|einzige\w*|seul\w*|únic[oa]"
            r"|ausschließlich",
        ),
    )
)
"""What a claim says of all, or of nothing else, and how a sentence may say it."""
_PREFIXES, _ROOT = ("un", "in", "im", "ir", "il", "dis", "non"), 4
"""Those that negate a word of so many letters at least."""
_FEWEST_MORE = 2
"""Telling words that a further clause brings at least."""
_REPEATED = 0.8
"""The share of a clause's telling words from which a claim repeats it."""
_DOUBLE = re.compile(
    r"\bnot\s+even\b|\bnor\b|\bnoch\b|\bni\b(?=.{0,300}\bni\b)|\bauch\s+nicht\b"
    r"|\b(?:not?\s+(?:more|fewer|less|later|earlier)\s+than|nicht\s+(?:mehr|weniger)\s+als)\b"
    r"(?=\s+(?:\W*\d|an?\b|half|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|twenty|thirty|forty|fifty|ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf)\b))"
    r"|\b(?:ne\s+|n[’'])(?=\w+(?:\s+\w+){0,2}?\s+(?:pas|plus|jamais|que)\b)",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("open", "closed"), ("opens", "closes"), ("opened", "closed"), ("allowed", "forbidden"),
    ("legal", "illegal"), ("possible", "impossible"), ("able", "unable"), ("won", "lost"),
    ("before", "after"), ("rose", "fell"), ("increased", "decreased"), ("first", "last"),
    ("largest", "smallest"), ("highest", "lowest"), ("inside", "outside"), ("above", "below"),
    ("higher", "lower"), ("more", "fewer"), ("more", "less"), ("greater", "smaller"),
    ("faster", "slower"), ("longer", "shorter"), ("older", "younger"), ("better", "worse"),
    ("stronger", "weaker"), ("earlier", "later"), ("cheaper", "dearer"), ("wieder", "mehr"),
)  # fmt: skip
_UP = re.findall(
    r"\w+",
    """more higher greater larger longer stronger faster older better later taller deeper wider
    heavier bigger warmer hotter richer thicker steeper brighter mehr höher größer tiefer länger
    breiter schwerer älter schneller wärmer plus más""",
)
_DOWN = re.findall(
    r"\w+",
    """less fewer lower smaller shorter weaker slower younger worse earlier rarer shallower narrower
    lighter cooler colder poorer thinner darker weniger kleiner niedriger flacher kürzer schmaler
    leichter jünger langsamer kälter moins menos""",
)
_DIRECTION = dict.fromkeys(_UP, 1) | dict.fromkeys(_DOWN, -1)
_EARLIER = {"before": -1, "after": 1, "bevor": -1, "nachdem": 1}
_ORDER = re.compile(rf"\b({'|'.join(_EARLIER)})\s+(?=[^\W\d])", re.IGNORECASE)
_Compared = tuple[int, str, str]
"""The direction of a comparison, what stands before it, and what after it."""
_DIRECTED = re.compile(
    r"\b(?:(is|are|was|were|been|being|be)\s+(?:\w+ly\s+)?)?(defeat\w*|beat\w*|caus(?:e|es|ed|ing)|(?:led|leads?)(?=\s+to\b)"
    r"|conquer\w+|invad\w+|replac(?:e|es|ed)|follow(?:s|ed)?|preced\w+|exceed\w*|surpass\w*|overtook|overtakes?"
    r"|taught|teaches|succeeded|employ(?:s|ed)?|influenced?s?|inspire[sd]?|outnumber\w*|sued?|criticis\w+"
    r"|criticiz\w+|support(?:s|ed)?|accused?|acquired?|bought|hired|attack(?:s|ed)?|infect(?:s|ed)?"
    r"|hunt(?:s|ed)?|eats?|ate|blame[sd]?|los(?:t|es))\b(\s+by\b)?",
    re.IGNORECASE,
)
_STEM = 4
_TIMES = re.compile(r"\b(?:(half)|twice|times)\s+as\s+\w+(?:\s+\w+)?\s+as\b", re.IGNORECASE)
_THAN = re.compile(r"\b(?:than|als|que)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def said_otherwise(claim: str, sentence: str) -> str:
    """The reason for which a sentence says the contrary of a claim; empty where none shows."""
    near = _ABLE.sub(r"\1", " ".join(clauses_for(claim, sentence)))
    if _negations(claim, near) != _negations(near, claim):
        return "the words quoted are negated where the claim is not, or the other way round"
    if _UNASSERTED.search(near) and not _UNASSERTED.search(claim):
        return "the words quoted do not say that it is so"
    if any(said.search(near) and not also.search(claim) for said, also in _LESS_THAN_SO):
        return "the words quoted do not say that it is so"
    if any(said.search(claim) and not also.search(sentence) for said, also in _WHOLLY):
        return "the words quoted do not say it of all, or of nothing else"
    if _turned(claim, sentence):
        return "the words quoted compare the other way round"
    words, others = _words(claim), _words(near)
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            if here in words - others and there in others - words and not _compares(claim, near):
                return f"the claim says {here!r} and the words quoted say {there!r}"
    return ""


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence, by their marks and conjunctions."""
    return [each for each in _CLAUSE.split(sentence) if each and each.strip()]


def parts_of(sentence: str) -> list[str]:
    """The clauses of a sentence, and the parts of those between conjunctions."""
    return [part for clause in clauses_of(sentence) for part in _AND.split(clause)]


def clauses_for(claim: str, sentence: str) -> Iterator[str]:
    """The clauses of a sentence that a claim is about, in their order.

    The one that shares most telling words with it, each further one that brings several more, and
    each that the claim repeats.
    """
    said = stems(claim)
    clauses = _chosen(said, clauses_of(sentence)) or [sentence]
    parts = _chosen(said, parts_of(sentence))
    # A part will do where it has all that the whole clause has of the claim.
    same = stems(" ".join(parts)) & said == stems(" ".join(clauses)) & said
    yield from parts if same else clauses


def _chosen(said: frozenset[str], clauses: Sequence[str]) -> list[str]:
    told = [stems(_NEGATION.sub(" ", clause)) for clause in clauses]
    best = max(range(len(clauses)), key=lambda n: len(told[n] & said), default=0)
    chosen, wanted = {best}, said - (told[best] if told else frozenset())
    for n, each in enumerate(told):
        if len(each & wanted) >= _FEWEST_MORE or (
            each & wanted and len(each & said) >= _REPEATED * len(each)
        ):
            chosen.add(n)
            wanted -= each
    return [clauses[n] for n in sorted(chosen)] if clauses else []


def _negations(text: str, other: str) -> int:
    """The negations of a text, those of two parts and those that underline another counted once.

    A word that the other text has without its prefix, such as `unused`, is one.
    """
    ours, theirs = _words(text), _words(other)
    prefixed = (
        word
        for word in ours - theirs
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) >= len(prefix) + _ROOT
        and word[len(prefix) :] in theirs - ours
    )  # fmt: skip
    return len(_NEGATION.findall(_DOUBLE.sub(" ", text))) + len({*prefixed})


def _compares(*texts: str) -> bool:
    return all(_THAN.search(text) for text in texts)


def _turned(claim: str, sentence: str) -> bool:
    """True when both compare two things, and one of direction and order is turned."""
    if any(_crossed(read(claim), read(sentence)) for read in (_comparison, _ordering)):
        return True
    ours, theirs = _done(claim), _done(sentence)
    return any(_crossed(ours[verb], theirs[verb]) for verb in ours.keys() & theirs.keys())


def _done(text: str) -> dict[str, _Compared]:
    """Who does what to whom, by the verbs that cannot be turned."""
    return {
        found[2].casefold()[:_STEM]: (
            -1 if found[1] and found[3] else 1, text[: found.start()], text[found.end() :]
        )
        for found in _DIRECTED.finditer(text)
    }  # fmt: skip


def _crossed(one: _Compared | None, other: _Compared | None) -> bool:
    if one is None or other is None:
        return False
    direction, before, after = one
    theirs, first, second = other
    straight = overlap(before, first) + overlap(after, second)
    crossed = overlap(before, second) + overlap(after, first)
    if straight == crossed:
        return direction != theirs
    return (direction == theirs) != (straight > crossed)


def _head(text: str) -> str:
    """The first telling word, without its ending."""
    return next((stem for word in _sequence(text) for stem in stems(word)), "")


def _ordering(text: str) -> _Compared | None:
    """What is before or after what, where that is no number."""
    found = _ORDER.search(text)
    if found is None:
        return None
    return _EARLIER[found[1].casefold()], text[: found.start()], _head(text[found.end() :])


def _comparison(text: str) -> _Compared | None:
    """The direction of a comparison with what stands before `than` and after it."""
    if times := _TIMES.search(text):
        return -1 if times[1] else 1, text[: times.start()], text[times.end() :]
    than = _THAN.search(text)
    if than is None:
        return None
    before, after = text[: than.start()], text[than.end() :]
    directions = [_DIRECTION[w] for w in _sequence(before) if w in _DIRECTION]
    return (directions[-1], before, after) if directions else None


def _sequence(text: str) -> Sequence[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _words(text: str) -> set[str]:
    return set(_sequence(text))
