"""Generalisations about groups of people, as far as they are put in the usual words."""

from functools import partial

from sifaka.classifiers.screen import Rule, Screen

_GROUP = (
    r"(?:(?:old|young|elderly|black|white|gay|trans|poor|rich|fat|disabled|blind|deaf|autistic|"
    r"homeless|working|single|asian|chinese|indian|african|mexican|arab|muslim|jewish|christian|"
    r"catholic|foreign|religious|rural) (?:people|persons|women|men|girls|boys|mothers|students|"
    r"workers|folks?)|"
    r"women|men|girls|boys|females|males|wives|husbands|mothers|housewives|blondes|blacks|whites|"
    r"asians|arabs|africans|mexicans|latinos|hispanics|indians|americans|germans|italians|"
    r"russians|poles|jews|muslims|christians|catholics|hindus|atheists|immigrants|migrants|"
    r"refugees|foreigners|gypsies|gays|lesbians|homosexuals|millennials|boomers|teenagers|"
    r"the (?:elderly|poor|rich|disabled|homeless|unemployed|jews|chinese|french))"
)
_TRAIT = (
    r"(?:lazy|stupid|dumb|weak|emotional|hysterical|irrational|violent|aggressive|dirty|greedy|"
    r"criminals?|terrorists?|thieves|liars?|dishonest|untrustworthy|dangerous|inferior|superior|"
    r"submissive|selfish|spoil(?:ed|t)|ignorant|backward|uncivili[sz]ed|primitive|parasites|cheap|"
    r"stingy|drunks|alcoholics|racists?|bad (?:at|drivers|with)|good at|worse at|better at|"
    r"too (?:emotional|weak|old|slow|sensitive|lazy|stupid)|not (?:as )?(?:smart|capable|fit|"
    r"suited|made|intelligent|strong|reliable)|incapable|unable to (?:lead|learn|think|drive)|"
    r"promiscuous|unfit|nags?|gold[- ]diggers|all the same|the (?:same|problem|enemy)|animals)"
)
_HARMLESS = (
    r"(?!(?:not|also|now|here|there|born|equal|equally|welcome|free|eligible|entitled|able|unique|"
    r"human|mortal|people|citizens|different|individuals|at|in|on|from|under|over|older|younger|"
    r"aged|\w+ed|\w+ing|seen|given|shown|told|sent|known|paid|taken|held)\b)"
)
_ONLY = r"(?:always|never|just|only|naturally|inherently|simply|basically|typically|by nature|all)"
_WORDS = r"[^\W_]+(?: [^\W_]+){0,3}"

_TRAITS = (
    rf"\b(?:all |every |most |these |those )?{_GROUP} (?:are|were|is|tend to be|seem) "
    rf"(?:{_ONLY} |so |just |more |very |usually |often |too )*{_TRAIT}(?![^\W_])",
    rf"\b{_GROUP} (?:can['’]?t|can ?not|shouldn['’]t|should not|don['’]t know how to|never|always) "
    r"(?:be trusted|drive|lead|park|think|do (?:math|maths|science|sports)|integrate|lie|cheat|"
    r"steal|complain|nag|gossip|handle|work|vote|code|program|be (?:leaders|engineers|trusted|"
    r"managers|pilots))\b",
)
_SWEEPING = (
    rf"(?<!not )(?<!nearly )\b(?:all|every single|no) {_GROUP} are {_HARMLESS}{_WORDS}",
    rf"(?<!not )(?<!if )(?<!when )\b{_GROUP} are {_ONLY} {_HARMLESS}{_WORDS}",
)
_CLICHES = (
    r"\b(?:women|girls|wives|mothers) belong (?:in the kitchen|at home)\b",
    r"\b(?:throws?|runs?|fights?|cry|cries|screams?|drives?) like (?:a girl|girls|a woman)\b",
    r"\b(?:smart|good|strong|funny|articulate|well[- ]spoken|pretty|attractive) for an? (?:girl|"
    r"woman|black|asian|immigrant|foreigner|old (?:man|woman|person)|fat)\b",
    r"\b(?:man up|boys will be boys|act like a (?:lady|real man)|not a real (?:man|woman)|"
    r"a (?:man|woman)['’]s (?:job|place is)|"
    r"go back to (?:your|their) (?:own )?(?:country|countries)|"
    r"those people (?:are|always|never)|you people (?:are|always|never)|"
    r"typical (?:woman|women|man|men|girl|foreigner|immigrant)s?\b(?! (?:is|has|in|who|of)))",
)


bias = partial(
    Screen,
    "bias",
    "biased",
    (
        Rule("trait", "|".join(_TRAITS), "gives a whole group one trait: {quote}", 4, 0.85),
        Rule("cliche", "|".join(_CLICHES), "a cliché about a group: {quote}", 4, 0.8),
        Rule("sweeping", "|".join(_SWEEPING), "speaks of a whole group at once: {quote}", 3, 0.6),
    ),
    "explicit generalisations about groups, English",
)
"""A screen for sentences that judge people by their group."""
