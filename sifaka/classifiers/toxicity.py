"""Threats and insults, as far as they are put in the usual words."""

from functools import partial

from sifaka.classifiers.screen import Rule, Screen, word

_FOOL = (
    r"(?:idiot|moron|imbecile|cretin|dimwit|halfwit|nitwit|dumbass|jackass|loser|scumbag|"
    r"dirtbag|lowlife|degenerate|parasite|pig|cockroach|pervert|psycho|retard|coward|liar|"
    r"waste of (?:space|oxygen|air)|piece of (?:shit|crap|garbage|trash)|"
    r"disgrace|pathetic excuse)s?(?! farm| proof|-proof| collect| can\b| bin\b| day\b)"
)
_FOOLISH = (
    r"(?:stupid|dumb|pathetic|worthless|useless|disgusting|brain-?dead|idiotic|moronic|retarded|"
    r"vile|scum|trash|garbage|vermin|subhuman|ugly and stupid|an? (?:joke|disease|plague))"
    r"(?! collect| can\b| bin\b| men\b| of what)"
)
_VERY = (
    r"(?:(?:all|both|just|really|truly|so|such|nothing but|clearly|obviously|always|still|a|an|the|"
    r"one|complete|completely|total|totally|utter|utterly|absolute|absolutely|fucking|freaking|"
    r"bloody|damn|stupid|dumb|little|filthy|dirty|worthless|useless|miserable|pathetic|ignorant|lazy|fat|ugly|"
    r"lying|bunch of|biggest|most) )"
)
_ARE = r"(?:you(?:['’]re| are|r)|ur|u r|are you(?: people)?|you (?:people|guys|lot) are)"
_WILL = (
    r"(?:i|we)(?:['’]ll| will| am going to| are going to|['’](?:m|re) (?:going to|gonna)| gonna)"
)
_THEM = r"(?:you|him|her|them all|your (?:whole )?(?:family|kids|children|wife|husband|mother))"

_THREATS = (
    rf"\b{_WILL} (?:\w+ )?(?:kill|murder|strangle|stab|slaughter|rape|torture|bury) {_THEM}\b",
    rf"\b{_WILL} (?:\w+ )?(?:hurt|break|burn|destroy|end) (?:you\b(?! a\b)|your (?:face|legs?|neck|"
    r"bones|family|house down)\b)",
    rf"\b{_WILL} (?:\w+ )?(?:beat|smash|punch|kick|slap) (?:you (?:up|to death|senseless|in the)|"
    r"your (?:face|head|teeth|ass))\b",
    rf"\b{_WILL} (?:\w+ )?shoot (?:you|him|her)(?: dead| in the|[.!?]|$)",
    r"\bi(?:['’]m| am)? (?:want|wanna|going)(?: to)? (?:kill|murder|strangle) (?:you|him|her)\b",
    r"\byou(?:['’]re| are) (?:dead meat|a dead (?:man|woman)|going to (?:pay for|regret) this)\b",
    r"\byou(?:['’]ll| will) (?:pay for this|regret this|be sorry you|die (?:for this|screaming))\b",
    r"\bsome(?:body|one) (?:should|ought to) (?:kill|shoot|hang|hurt|beat) (?:you|him|her|them)\b",
    r"\b(?:you|he|she|they)(?: all)? (?:deserves? to|should|ought to) (?:die\b|"
    r"be (?:killed|shot|hanged|hung|raped|lynched|gassed|exterminated)\b)",
    r"\bi know where you (?:live|sleep)\b",
    r"\b(?:kill yourself|go kill yourself|kys|go die|drop dead|hang yourself|"
    r"i hope you (?:die|get (?:cancer|raped|killed)|suffer|rot))\b",
)
_INSULTS = (
    rf"\b{_ARE} {_VERY}{{0,4}}(?:{_FOOL}|{_FOOLISH})(?![^\W_]|-)",
    rf"\byou {_VERY}{{0,3}}{_FOOL}(?![^\W_])",
    rf"\b(?:what an?|such an?) {_VERY}{{0,3}}(?:idiot|moron|imbecile|loser|scumbag|cretin)\b",
    rf"\b(?:he|she)(?:['’]s| is) {_VERY}{{0,4}}{_FOOL}(?![^\W_])",
    rf"\bthey(?:['’]re| are) {_VERY}{{0,4}}(?:idiots|morons|imbeciles|losers|scum|vermin|animals|"
    r"subhuman|cockroaches|parasites|trash)(?![^\W_])",
    r"\b(?:shut (?:the (?:fuck|hell) )?up|(?:go )?f[u*]ck (?:you|off|yourself)|screw you|"
    r"go to hell|piss off|get lost, you|eat shit|nobody (?:likes|wants|loves) you|"
    r"you(?:['’]re| are) (?:a nobody|better off dead)|you make me sick|i hate you)\b",
)
_SLURS = word("nigger", "nigga", "faggot", "kike", "wetback", "tranny", "towelhead", "raghead")


toxicity = partial(
    Screen,
    "toxicity",
    "toxic",
    (
        Rule("threat", "|".join(_THREATS), "reads as a threat: {quote}", 5, 0.95),
        Rule("insult", "|".join(_INSULTS), "reads as an insult: {quote}", 4, 0.85),
        Rule("slur", _SLURS, "a slur: {quote}", 5, 0.95),
    ),
    "explicit threats, insults and slurs, English",
)
"""A screen for threats, insults and slurs against persons."""
