"""Nouns in the wrong number, and nouns without their article."""

import re
from collections.abc import Iterator, Mapping

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.editor.words import words_of
from sifaka.record.results import Issue

_WORDS = words_of("nouns")
_IRREGULAR = {
    "child": "children",
    "man": "men",
    "woman": "women",
    "knife": "knives",
    "wife": "wives",
    "leaf": "leaves",
    "tooth": "teeth",
    "foot": "feet",
    "mouse": "mice",
    "potato": "potatoes",
    "tomato": "tomatoes",
}
_NUMBER = (
    r"(?:[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en|[Tt]welve|[Tt]wenty"
    r"|[Tt]hirty|[Ff]ifty|[Mm]any|[Ss]everal|[Aa] few|[Tt]hese few)"
)
_END = (
    r"(?=[.!?,;:)]|\s*\Z|\n\s*\n| (?:and (?!\w+s\b)|but|who|which|that|were|are|have|had|from|for|of|with|in the|on the|at the"
    r"|ago|later|before|after|when|because|since|every|live|in [A-Z]|played|came|went|lived|passed|to (?:do|see|read))\b)"
)
_COUNTED = re.compile(
    rf"\b{_NUMBER} (?:(?:big|small|old|new|good|little|young|other) )?(?P<noun>[a-z]+)(?![\w'’-]){_END}"
)
_ONE_OF = re.compile(
    r"\b[Oo]ne of (?:the (?:best|worst|most [a-z]+|biggest|oldest|first|last)|my|his|her|our|their) (?P<noun>[a-z]+)(?![\w'’-])"
    r"(?=[.!?,;]|\s*\Z| (?:in|is|was|who|has|from|on|of|that|at)\b)"
)
_MASS = {
    "informations": "information",
    "furnitures": "furniture",
    "luggages": "luggage",
    "homeworks": "homework",
    "advices": "advice",
    "sheeps": "sheep",
    "knowledges": "knowledge",
    "childrens": "children",
    "womans": "women",
    "mans": "men",
}
_MASS_WORD = re.compile(
    r"\b(?<!['’-])(?P<noun>[Ii]nformations|[Ff]urnitures|[Ll]uggages|[Hh]omeworks|[Aa]dvices|sheeps|womans)"
    r"(?![\w'’-])(?! (?:are|were|have)\b)"
)
_CHILDRENS = re.compile(
    r"\b(?<!['’-])(?P<noun>[Cc]hildrens)(?= (?!in\b|are\b|were\b|have\b|and\b|who\b)[a-z]+)"
)
_THIS = re.compile(
    r"\b(?<!['’-])(?P<noun>[Tt]his|[Tt]hat) (?P<of>[a-z]+)(?= (?P<verb>are|were|have|is|was)\b|[.!?,]|\s*\Z| (?:twice|very|at|in|for|on)\b)"
)
_THESE = re.compile(
    r"\b(?<!['’-])(?P<noun>[Tt]hese|[Tt]hose) (?P<of>[a-z]+)(?= (?:is|was|has) (?!when|what|where|how)|[.!?,]|\s*\Z| (?:very|at|in|for|on|over|by)\b)"
)
_PROFESSION = (
    r"(?:teacher|student|doctor|nurse|engineer|lawyer|dentist|programmer|developer|driver|waiter"
    r"|waitress|baker|farmer|journalist|musician|singer|artist|pilot|mechanic|plumber|electrician)"
)
_NO_ARTICLE = (
    re.compile(
        rf"\b(?:I am|I was|I['’]m|[Hh]e is|[Ss]he is|[Hh]e was|[Ss]he was|[Hh]e['’]s|[Ss]he['’]s|works? as|worked as"
        rf"|working as|wants? to be|become|became) (?P<noun>{_PROFESSION})(?=[.!?,]|\s*\Z| (?:at|in|and|from|who|for|with)\b)"
    ),
    re.compile(
        r"\b(?:I|[Ww]e|[Yy]ou|[Tt]hey) (?:have|had) (?P<noun>question|headache|problem|appointment|idea)"
        r"(?=[.!?,]|\s*\Z| (?:about|with|for|at|and|on|that)\b)"
    ),
    re.compile(r"\b(?:[Hh]e|[Ss]he) (?:has|had) (?P<noun>question|headache|problem|appointment|fever)(?=[.!?,]|\s*\Z| (?:about|with|for|at|and|on)\b)"),
    re.compile(
        r"\b(?:[Ii]t|[Tt]hat|[Tt]his) (?:is|was) (?P<noun>(?:very |really )?(?:good|great|nice|bad|terrible) "
        r"(?:idea|day|time|place|book|film|movie|question|choice|experience))(?=[.!?,]|\s*\Z| (?:to|for|and|but)\b)"
    ),
)  # fmt: skip
_NEW = re.compile(
    r"\b(?:bought|buys?|needs?|wants?|got|have|has) (?P<noun>(?:new|old|big|small|nice) (?:car|bike|house|flat|phone|computer|job|dog|cat|boat))"
    r"(?=[.!?,]|\s*\Z| (?:last|this|in|for|and|from|with|yesterday|near)\b)"
)
_NO_THE = (
    re.compile(r"\b(?:[Ii]t|[Tt]hat|[Tt]his) (?:is|was) (?P<noun>(?:first|last|second) time)\b"),
    re.compile(
        r"\b(?:go|goes|going|went|come|came) to (?P<noun>cinema|supermarket|zoo|library|museum|airport|bakery|theatre"
        r"|seaside|hairdresser|swimming pool)(?=[.!?,]|\s*\Z| (?:on|with|in|and|to|by|at|yesterday|today|every)\b)"
    ),
    re.compile(r"\b(?:in|from|to) (?P<noun>(?:north|south|east|west|middle|centre|center) of) (?=[A-Za-z]+)"),
    re.compile(r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]his|[Tt]hat) (?:is|was) (?P<noun>(?:best|worst|biggest|oldest|tallest) [a-z]+ (?:in|of) the)\b"),
)  # fmt: skip


def _counted(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["noun"] in _WORDS["nouns"] - (_WORDS["units"] if " of " in match.group() else set()):
        yield parsed.instead(match.span("noun"), _plural(match["noun"]), "plural")


def _mass(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    noun, before = match["noun"], parsed.text[max(0, match.start() - 20) : match.start()]
    if not re.search(rf"\b(?:{_NUMBER}) \Z", before):
        yield parsed.instead(match.span("noun"), _MASS[noun.lower()], "plural")


def _childrens(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    yield parsed.instead(match.span("noun"), match["noun"][:-1] + "'s", "plural")


def _this(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["of"] in SINGULARS and match["verb"] not in {"is", "was"}:
        fix = {"this": "these", "that": "those"}[match["noun"].lower()]
        # "It is round, that chairs are used": a conjunction as well.
        safe = match["verb"] is not None and fix == "these"
        yield parsed.instead(match.span("noun"), fix, "this_these", safe=safe)


def _these(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["of"] in _WORDS["nouns"]:
        fix = {"these": "this", "those": "that"}[match["noun"].lower()]
        safe = parsed.word_after(match.end()) in {"is", "was", "has"}
        yield parsed.instead(match.span("noun"), fix, "this_these", safe=safe)


def _no_article(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    article = "an" if match["noun"][0] in "aeiou" else "a"
    yield parsed.instead(match.span("noun"), f"{article} {match['noun']}", "missing_article")


def _no_the(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    yield parsed.instead(match.span("noun"), f"the {match['noun']}", "missing_article")


def _plural(noun: str) -> str:
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


SINGULARS: Mapping[str, str] = {_plural(noun): noun for noun in sorted(_WORDS["nouns"])}
"""The known nouns by their plurals."""
nouns = PatternRule(
    [
        (_COUNTED, _counted),
        (_ONE_OF, _counted),
        (_MASS_WORD, _mass),
        (_CHILDRENS, _childrens),
        (_THIS, _this),
        (_THESE, _these),
        *((pattern, _no_article) for pattern in (*_NO_ARTICLE, _NEW)),
        *((pattern, _no_the) for pattern in _NO_THE),
    ]
)
"""Nouns in the wrong number, and missing articles."""
