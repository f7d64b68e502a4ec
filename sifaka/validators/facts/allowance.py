"""The changes of facts that a task asks for, by rules."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from sifaka.text.language import asks_for_translation, translation_into
from sifaka.validators.facts.fact import KINDS, Kind

Converted = Literal["units", "money", "times", "rounded"]
_EVERYTHING = frozenset(KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The changes of facts that a task allows."""

    lose: frozenset[Kind] = frozenset()
    """Kinds of which facts may be left out."""
    add: frozenset[Kind] = frozenset()
    """Kinds of which new facts may appear."""
    converts: frozenset[Converted] = frozenset()
    translates: bool = False
    """True when the words change, so that only facts without words can be compared."""
    into: frozenset[str] = frozenset()
    """The languages that the text is translated into, where they are known."""
    replaces: bool = False
    """True when what the task itself names may be left out."""
    counts_stay: bool = False
    """True when numbers that count or measure stay although those that name something may go."""
    measures_stay: bool = False
    """True when numbers with a unit stay although others may be left out."""
    keeps: frozenset[Kind] = frozenset()
    """Kinds of which the task says that they stay, whatever else it asks for."""
    shortest: int = 0
    """The text may be this many times as short, and not shorter; 0 for any length."""
    longest: float = 0
    """The text may be this many times as long, and not longer; 0 for any length."""
    known: bool = True
    """False when the rules do not know such a task."""

    def widened(self, *, lose: Iterable[Kind] = (), add: Iterable[Kind] = ()) -> "Allowance":
        """The allowance with more kinds."""
        wider = (self.lose | frozenset(lose)) - self.keeps
        return replace(self, lose=wider, add=self.add | frozenset(add))


_CORRECTED = 1.5
"""The times as long from which a text has more than a correction that changes nothing else."""
_REWRITTEN, _SHORTENED = 8, 30
"""The times as short from which a text is no rewrite, and no shortening, of another."""
NOTHING = Allowance(shortest=_REWRITTEN)
"""A rewrite without a task: every fact stays."""

_ANONYMISE = re.compile(
    r"\banonymi[sz]|\bpseudonymi[sz]|de-?identif|anonymisier|anonimiza|schwärz|匿名|\bprivacy\b"
    r"|\bGDPR\b"
    r"|\b(?:remove|replace|delete|hide|mask|strip|omit|leave out|redact|entferne"
    r"|ersetze)\b[^.]{0,40}"
    r"\b(?:personal|private|identif|sensitive|confidential)|\bredact (?:it|this|the text)\b"
    r"|\bredact[.!]?$",
    re.IGNORECASE,
)
_REDACT = re.compile(
    r"\b(?:remove|replace|delete|hide|mask|strip|omit|leave out|redact|black out|entferne"
    r"|ersetze)\b[^.]{0,40}"
    r"\b(?:names?\b(?! of)|e-?mails?|(?:tele)?phone|addresses|namen|initials)[^.]*",
    re.IGNORECASE,
)
_SUMMARISE = re.compile(
    r"\bsummar|\bsum (?:it|this|that|the|up)|\btl;?dr|\bgist\b|\babstract\b|\bheadline|\btitle\b"
    r"|\btweet"
    r"|(?:key|main|most important) (?:points?|facts?|ideas?|takeaways?|message)|\bdigest\b"
    r"|\bsynopsis|\bone sentence|\bsingle sentence"
    r"|\b(?:\d+|ten|twelve|fifteen|twenty|thirty|forty|fifty|hundred) (?:words?|characters?"
    r"|sentences?|lines?)\b"
    r"|\bhalf\b|\boutline\b|\brésum|\bresum[ei]|zusammenfass|\bfasse\b|总结|摘要|概括|要約"
    r"|social media"
    r"|\bpost\b"
    r"|subject line|\bcaption|\bslogan|\boverview\b|\bteaser|\bblurb|elevator pitch"
    r"|\btwo sentences|überschrift|\btitre\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:answers?|reply|replies|respond|response|solve|beantworte|antworte|réponds|responde)\b"
    r"|回答|回复",
    re.IGNORECASE,
)
_ADD = re.compile(
    r"\b(?:add|include|insert|append|expand|elaborate|extend|continue|enrich|prepend|lengthen"
    r"|flesh out|supplement"
    r"|write more|more detail|give examples?|with examples?|ergänze|erweitere|ajoute|développe"
    r"|añade|amplía|aggiungi)\b|\bfüge\b.*\b(?:hinzu|ein)\b"
    r"|添加|扩展|补充",
    re.IGNORECASE,
)
_REMOVE = re.compile(
    r"\b(?:remove|delete|drop|leave out|omit|strip|take out|cut out|cut the|get rid of|exclude"
    r"|skip|without the"
    r"|entferne|streiche|lösche|supprime|retire|enlève|elimina|quita|borra)\b(?P<object>[^.;]*)|删除"
    r"|去掉",
    re.IGNORECASE,
)
_MERE_STYLE = re.compile(
    r"redundan|filler|repetit|jargon|passive|adverb|typo|error|mistake|wordy|wordiness|clich"
    r"|buzzword|comma"
    r"|emphasis|format|markdown|emoji|fluff|unnecessary words|duplicate|whitespace|spaces|hedg"
    r"|contraction",
    re.IGNORECASE,
)
_REPLACE = re.compile(
    r"\b(?:(?:set|move) (?:the|all)|replace|change|rename|swap|substitut|update|switch|bump"
    r"|postpone|reschedule|correct the|ersetz|ändere|aktualisiere|remplac|chang|reemplaz|cambia"
    r"|sustituy|sostituisc)\w*\b(?P<object>[^.;]*)",
    re.IGNORECASE,
)
_CONVERT = re.compile(
    r"\bconver|\bmetric|\bimperial|\bcelsius|\bfahrenheit|\bkelvin|\bSI units|\bunits?\b|\b(?:in"
    r"|into|to) (?:kilo|met[re]|centi|milli"
    r"|miles|feet|inch|yard|pound|ounce|gram|lit[re]|gallon|minutes|hours|days|seconds)|umrechn"
    r"|rechne|konvertier",
    re.IGNORECASE,
)
_CURRENCY = re.compile(
    r"\bcurrenc|\b(?:in|into|to) (?:us )?(?:dollars?|euros?|pounds sterling|yen|yuan|francs|usd"
    r"|eur|gbp|chf)\b|währung",
    re.IGNORECASE,
)
_ZONE = re.compile(
    r"\btime ?zone|\b(?:in|into|to) (?:utc|gmt|est|pst|cet|local time)\b|zeitzone", re.IGNORECASE
)
_ROUND = re.compile(r"\bround(?:ed)?\b|\bapproximat|\brunde\b|\barrondi|redondea", re.IGNORECASE)
_STYLE = re.compile(
    r"formal|professional|polite|friendl|casual|\btone\b|\bstyle\b|clear|clarity|readab|simpl"
    r"|plain|paraphras|rephras"
    r"|\breword|rewrit|improv|polish|\bfix|correct|proofread|gramma|spell|typo|punctuat|bullet"
    r"|\blist|\btable|paragraph|\bprose\b|running text"
    r"|\bsteps?\b|\bactive\b|\bpassive\b|\btense\b|\bperson\b|voice|heading|structur|format|concis"
    r"|short|tight|\btrim|condens"
    r"|\bflow\b|engag|persuasi|warm|excit|punch|liven|stiff|understand|child|kids|year-old"
    r"|beginner|better|sound|wording|easier|easy"
    r"|address the reader|essay|spell out|digits|write numbers|write out|12-hour|24-hour"
    r"|iso format|date format|refine|edit\b|clean|direct|neutral|catch|humor|humour|funny|poetic"
    r"|natural|fluen|coheren|consisten|vivid|confident|gender|inclusive|markdown|html|json"
    r"|kürz|korrigier|verbesser|formulier|umformulier|vereinfach|höflich|stil\b|fehler"
    r"|rechtschreib|corrige|améliore|simplifie|raccourci|reformule|orthograph"
    r"|mejora|simplifica|acorta|gramática|corregir|migliora|correggi|改写|润色|修改|简化|纠正",
    re.IGNORECASE,
)
_SHORTEN = re.compile(
    r"short|brief|concis|terse|tight|\btrim|condens|compress|simpl|extract|\blist|\btable|json"
    r"|kürz|vereinfach|raccourci|acort|简|短",
    re.IGNORECASE,
)
_CREATE = re.compile(
    r"\s*(?:please )?(?:write|draft|compose|create|generate|invent|schreibe?|écris|escribe)\b"
    r"(?!.*\b(?:it|this|these|that|text|above|following|notes?|article|paragraph|dies\w*|den)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A task to write something that says nothing of the text."""
_KEEP = re.compile(
    r"\b(?:(?:keep|keeping|preserve|preserving|retain|retaining)\b|(?:do not|don't|without)"
    r" (?:chang|alter|touch|drop|los|remov|omit)\w*|behalte|lasse?\b|conserv|garde|mantén|conserva)"
    r"(?P<object>[^.;]*)",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"\bnothing (?:else|more)\b|\banything else\b|\bsonst nichts\b|\brien d'autre\b|\bnada más\b",
    re.IGNORECASE,
)
"""The end of a task that adds only what it names."""
_FACTS = re.compile(r"\b(?:facts?|fakten|faits|datos|hechos|everything else)\b", re.IGNORECASE)
_KIND_WORDS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    (r"\b(?:links?|urls?|hyperlinks?|web address(?:es)?|website)\b", ("url",)),
    (r"\be-?mails?\b", ("email",)),
    (r"\bcode|\bsnippet|\bcommand|代码", ("code", "number")),
    (
        r"\bdates?\b|\bdays?\b|\bdatum\b|\bdaten\b|日期|\bmonday|\btuesday|\bwednesday|\bthursday|\bfriday|\bsaturday|\bsunday",
        ("date",),
    ),
    (r"\btimes?\b|\buhrzeit", ("time",)),
    (
        r"\bprices?|\bcosts?\b|\bamounts?|\bnumbers?\b|\bfigures?\b|\bstatistic|\bpercent|\bversion|\bphone|\bpreis|\bzahl",
        ("number",),
    ),
    (r"\bnames?\b|\bnamen\b|\bpeople\b", ("name",)),
    (r"\bquotes?\b|\bquotations?\b|\bzitat", ("quote",)),
)


def allowance_of(task: str) -> Allowance:
    """The changes of facts that a task asks for.

    A task that asks for several things allows what each of them does. One that is not understood
    allows nothing, and says so.
    """
    if not task.strip():
        return NOTHING
    lose: set[Kind] = set()
    add: set[Kind] = set()
    converts: set[Converted] = set()
    known = bool(_STYLE.search(task))
    translates = asks_for_translation(task)
    if translates:
        lose |= {"name", "quote"}
        add |= {"name", "quote"}
    anonymises = bool(_ANONYMISE.search(task))
    redacts = _REDACT.search(task)
    if anonymises:
        lose |= _EVERYTHING - {"code", "quote"}
        add |= {"name", "email"}
    elif redacts is not None:
        lose |= set(_kinds_in(redacts.group()))
        add |= {"name", "email"}
    if _SUMMARISE.search(task):
        lose |= _EVERYTHING
        known = True
    if _ANSWER.search(task):
        lose |= _EVERYTHING
        add |= _EVERYTHING
    if _ADD.search(task) and not _NOTHING_ELSE.search(task):
        add |= _EVERYTHING
    removes = [m for m in _REMOVE.finditer(task) if not _MERE_STYLE.search(m.group())]
    if removes and not (anonymises or redacts):
        for match in removes:
            lose |= set(_kinds_in(match.group())) or _EVERYTHING
    replaces = _REPLACE.search(task)
    if replaces is not None:
        lose |= set(_kinds_in(replaces.group())) - ({"time", "date"} if "format" in task else set())
    if _CONVERT.search(task):
        converts |= {"units"}
    if _CURRENCY.search(task):
        converts |= {"money"}
    if _ZONE.search(task):
        converts |= {"times"}
        lose.add("time")
        add.add("time")
    if _ROUND.search(task):
        converts |= {"rounded"}
    known = known or translates or bool(lose or add or converts or removes or replaces)
    known = known or bool(_REMOVE.search(task) or _ADD.search(task))
    keeps: set[Kind] = set()
    for match in _KEEP.finditer(task):
        kept = match["object"]
        keeps |= _EVERYTHING if _FACTS.search(kept) else set(_kinds_in(kept))
    if "number" in keeps:
        keeps |= {"date", "time"}  # their numbers are numbers
    if not known and _CREATE.match(task):
        return Allowance(lose=_EVERYTHING, add=_EVERYTHING, replaces=True)
    shortest = _SHORTENED if _SHORTEN.search(task) else _REWRITTEN
    return Allowance(
        lose=frozenset(lose - keeps),
        add=frozenset(add),
        keeps=frozenset(keeps),
        converts=frozenset(converts),
        translates=translates,
        into=translation_into(task) or frozenset(),
        replaces=replaces is not None or bool(removes or redacts) or anonymises,
        counts_stay=redacts is not None and not anonymises,
        measures_stay=anonymises,
        shortest=shortest if known and not removes else 0,
        longest=_CORRECTED if _NOTHING_ELSE.search(task) and not _ADD.search(task) else 0,
        known=known,
    )


def _kinds_in(words: str) -> Iterable[Kind]:
    for pattern, kinds in _KIND_WORDS:
        if re.search(pattern, words, re.IGNORECASE):
            yield from kinds
