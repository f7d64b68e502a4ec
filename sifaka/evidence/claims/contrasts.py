"""Words that exclude each other: of a claim and of the sentence that is quoted for it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sifaka.evidence.claims.bounds import MOST_FACTS, counted, told_of
from sifaka.evidence.claims.pairing import paired_otherwise
from sifaka.evidence.claims.polarity import clauses_for, parts_of
from sifaka.evidence.passages import stems
from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.reading import Reading

_TABLE = """

rise rises rose risen rising increase increases increased grow grows grew grown gained climbed
 | fall falls fell fallen falling decrease decreases decreased decline declined drop dropped shrank
twice | half
mild slight | severe serious
shorten shortens shortened | lengthen lengthens lengthened
delay delays delayed | hasten hastens hastened
abroad | home domestically
resigned | dismissed sacked fired
admit admits admitted | deny denies denied
ceramic | glass | plastic | wooden
rain | snow | hail
double doubles doubled | triple triples tripled | quadruple quadrupled | halve halves halved
minimum minimal lowest | maximum maximal highest | average mean
north northern northwards | south southern southwards | east eastern eastwards
 | west western westwards | northeast northeastern | northwest northwestern
 | southeast southeastern | southwest southwestern
left lefthand | right righthand
front | behind rear back
inside indoors | outside outdoors
upper upstairs | lower downstairs
red rot rouge rojo | blue blau bleu azul | green grün vert verde | yellow gelb jaune amarillo
 | white weiß blanc blanche blanco blanca | black schwarz noir noire negro negra | brown braun
 | grey gray grau gris | orange | pink rosa | purple violet
mother mutter mère madre | father vater père padre | sister schwester | brother bruder
 | son sohn | daughter tochter | grandmother | grandfather | uncle | aunt | husband | wife
 | nephew | niece
king könig roi rey | queen königin reine reina
male männlich | female weiblich

child children pupils student students kinder studenten enfants étudiants niños estudiantes
 | adult adults erwachsene adultes adultos adulti | everyone everybody jeder tous todos
 | senior seniors senioren
man men | woman women | boy boys | girl girls
killed dead died | injured wounded hurt | missing
open opens opened öffnet öffnete geöffnet ouvre ouvert abre abrió abierto abierta
 | closed closes shut schließt schloss geschlossen ferme fermé fermée cierra cerró cerrado cerrada
reopen reopens reopened | closed closes shut
pass passes passed approve approves approved accept accepts accepted adopted
 | reject rejects rejected decline declined veto vetoed
start starts started begin begins began begun
 | stop stops stopped cease ceases ceased end ends ended finish finished
win wins won beat beats beaten defeat defeats defeated | lose loses lost
buy buys bought purchase purchased | sell sells sold
arrive arrives arrived | depart departs departed
import imports imported importiert importierte importe importa
 | export exports exported exportiert exportierte exporta
genuine authentic real | fake forged forgery counterfeit
guilty convicted | innocent acquitted
free frei gratuit gratis kostenlos | charged
never | rarely seldom hardly | sometimes occasionally | often frequently usually | always
few | many most majority
most | least
first erste erster erstes premier première primero primera
 | second zweite zweiter zweites deuxième segundo segunda
 | third dritte dritter drittes troisième tercero tercera | fourth | fifth | sixth | seventh
 | eighth | ninth | tenth
monday montag lundi lunes | tuesday dienstag mardi martes
 | wednesday mittwoch mercredi miércoles | thursday donnerstag jeudi jueves
 | friday freitag vendredi viernes | saturday samstag samedi sábado
 | sunday sonntag dimanche domingo
weekday weekdays | weekend weekends
January | February | March | April | May | June | July | August | September | October | November
 | December
spring | summer | autumn | winter
morning mornings | afternoon afternoons | evening evenings | night nights
with mit avec con | without ohne sans sin
taller | shorter
deeper | shallower
wider broader | narrower
heavier | lighter
bigger larger | smaller
warmer hotter | colder cooler
wood wooden timber | stone | brick | steel | iron | copper | bronze | gold | silver | glass
 | concrete | marble
positive | negative
public | private
dry | wet
deciduous | evergreen
winner | loser
widen widens widened widening | narrow narrows narrowed narrowing
strengthen strengthens strengthened | weaken weakens weakened
raise raises raised | lowers lowered
accelerate accelerates accelerated | decelerate slowed
expanded | contracted
create creates created | destroy destroys destroyed
succeed succeeds succeeded success | fail fails failed failure
include includes included | exclude excludes excluded
freeze freezes froze frozen | thaw thaws thawed melt melts melted
permit permits permitted | forbid forbids forbade forbidden ban bans banned prohibit prohibited
praise praises praised | criticise criticises criticised criticize criticizes criticized
hire hires hired | dismissed sacked fired
profit profits | loss losses
victory victories | defeat defeats
expensive | cheap
empty | full
easy | difficult
shallow | deep
thick | thin
safe | dangerous unsafe
temporary temporarily | permanent permanently
voluntary | compulsory mandatory obligatory
domestic | foreign
urban | rural
internal | external
ancient | modern
mothers | fathers
sisters | brothers
daughters | sons
sommer verano | winter invierno inverno hiver | herbst otoño autunno automne
teacher | pupil student
doctor physician | patient
buyer | seller
employer | employee
"""
"""Each line, and those that it is continued by, has the members of a set with `|` between them."""


def _members() -> Mapping[str, Sequence[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(_TABLE.replace("\n |", " |").strip().splitlines()):
        for member, words in enumerate(line.split("|")):
            for word in words.split():
                found.setdefault(word, []).append((number, member))
    return MappingProxyType({word: tuple(places) for word, places in found.items()})


_MEMBERS = _members()
"""The sets, and the places in them, that a word is in."""
_WORD = re.compile(r"[^\W_]+")
_FEWEST_PARTS = 2
_WHOLE = re.compile(r"(?:out )?of\b|among\b", re.IGNORECASE)
"""Begins with what the parts of a sentence are parts of: `Of the 89 people, 31 died`."""
_THAN = re.compile(r"\b(?:than|als|que)\b", re.IGNORECASE)
_VERB = re.compile(
    r"is|are|was|were|has|have|had|can|will|did|does|do|ist|sind|war|wurden?|wird|hat|est|sont|fut|a|es|son"
    r"|fue|era|tiene|è|fu|werd(?:en)?|is|blev|ble",
    re.IGNORECASE,
)
_ARTICLES = frozenset(
    {"the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "lo"}
    | {"de", "het", "en", "et", "det"}
)


def contrast(claim: Reading, sentence: Reading) -> str:
    """The reason where a claim has a word that excludes the sentence's; empty where none shows."""
    near = " ".join(clauses_for(claim.text, sentence.text))
    return (
        _exclusive(claim.text, sentence.text, near)
        or _said_of_the_other(claim, sentence)
        or paired_otherwise(claim, sentence)
    )


def _exclusive(claim: str, sentence: str, near: str) -> str:
    """The reason where the sentence has not a word of the claim, but another one of its set."""
    ours, theirs, told = _places(claim), _places(sentence), _places(near)
    compared = _THAN.search(claim) and _THAN.search(near)
    for (number, member), word in ours.items():
        if (number, member) in theirs or (compared and word.casefold().endswith("er")):
            continue
        for (other_number, other), said in told.items():
            if other_number == number and (number, other) not in ours:
                return told_of(word, said)
    return ""


def _places(text: str) -> dict[tuple[int, int], str]:
    """The members of the sets that a text has, each with its word."""
    found: dict[tuple[int, int], str] = {}
    for word in _WORD.findall(text):
        for place in _MEMBERS.get(word.casefold(), _MEMBERS.get(word, ())):
            found.setdefault(place, word)
    return found


class _Part(NamedTuple):
    """A part of a sentence between conjunctions."""

    stems: frozenset[str]
    places: Mapping[tuple[int, int], str]
    facts: Sequence[Fact]


def _said_of_the_other(claim: Reading, sentence: Reading) -> str:
    """The reason where what a claim says stands in a part of the sentence with something else.

    `The gate is red and the door blue`: what is said of the gate stands with red, not with blue.
    """
    parts, shared, verb = _parts(sentence)
    if len(parts) < _FEWEST_PARTS:
        return ""
    everywhere = frozenset[str].union(*(part.stems for part in parts))
    said = (stems(claim.text) & everywhere) - shared
    own = [
        frozenset(s for s in said & part.stems
                  if not any(s in other.stems for other in parts if other is not part))
        for part in parts
    ]  # fmt: skip
    for word, here, others in _pairs(claim, parts):
        itself = stems(word)
        near = _neighbour(claim, word, frozenset[str]().union(*own) - itself - verb)
        with_it = any(near in own[n] if near else own[n] - itself for n in here)
        for n, instead in others.items():
            if not with_it and (near in own[n] if near else own[n] - itself):
                return f"the words quoted say it of {instead!r}, not of {word!r}"
    return ""


def _neighbour(claim: Reading, word: str, own: frozenset[str]) -> str:
    """The telling word of one part that follows a word at once, stands before it, or after."""
    at = claim.text.find(word)
    before, after = _WORD.findall(claim.text[:at]), _WORD.findall(claim.text[at + len(word) :])
    adjective = after[:1] if word.casefold() in _MEMBERS else []
    for each in (*adjective, *reversed(before), *after):
        for stem in stems(each) & own:
            return stem
    return ""


def _parts(sentence: Reading) -> tuple[list[_Part], frozenset[str], frozenset[str]]:
    """The parts of a sentence, and the telling words of the first one's subject and verb."""
    texts = parts_of(sentence.text)
    parts: list[_Part] = []
    at = 0
    for text in texts:
        start = max(at, sentence.text.find(text, at))
        at = start + len(text)
        facts = [f for f in counted(sentence) if start <= f.start < at]
        parts.append(_Part(stems(text), _places(text), facts))
    if parts and _WHOLE.match(texts[0]):
        return parts[1:], parts[0].stems, frozenset()
    words = _WORD.findall(texts[0]) if texts else []
    verb = next((n for n, word in enumerate(words) if _VERB.fullmatch(word)), None)
    end = 1 + sum(word.casefold() in _ARTICLES or word.casefold() in _MEMBERS for word in words[:2])
    subject = words[: end if verb is None else verb]
    rest = [word for word in words[len(subject) :] if stems(word)]
    return parts, stems(" ".join(subject)), stems(" ".join(rest[:1]))


def _pairs(
    claim: Reading, parts: Sequence[_Part]
) -> Iterator[tuple[str, Sequence[int], Mapping[int, str]]]:
    """What a claim says, the parts that have it, and those that have another of its kind."""
    ours = _places(claim.text)
    for (number, member), word in ours.items():
        here: list[int] = []
        others: dict[int, str] = {}
        last = ""
        for n, part in enumerate(parts):
            told = {one: said for (other, one), said in part.places.items() if other == number}
            # What follows without another of the set is still said of the last one.
            last = last if not told else word if member in told else min(told.values())
            if last == word:
                here.append(n)
            elif last and not any((number, one) in ours for one in told):
                others[n] = last
        if here and others:
            yield word, here, others
    facts = counted(claim)[:MOST_FACTS]
    known = {key for fact in facts for key in fact.keys}
    for fact in facts:
        here = [
            n for n, part in enumerate(parts) if any({*f.keys} & {*fact.keys} for f in part.facts)
        ]
        others = {
            n: f.shown
            for n, part in enumerate(parts)
            if n not in here
            for f in part.facts
            if (f.kind, f.unit) == (fact.kind, fact.unit) and not {*f.keys} & known
        }
        if here and others:
            yield fact.shown, here, others
