"""Common English verbs and their forms."""

from collections.abc import Mapping
from functools import cache

from sifaka.editor.lexicon import lexicon

# base past participle
_IRREGULAR = """
be was been|become became become|begin began begun|break broke broken|bring brought brought
build built built|buy bought bought|catch caught caught|choose chose chosen|come came come
do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
feel felt felt|fight fought fought|find found found|fly flew flown|forget forgot forgotten
get got got|give gave given|go went gone|grow grew grown|have had had|hear heard heard
keep kept kept|know knew known|leave left left|lend lent lent|lose lost lost|make made made
mean meant meant|meet met met|pay paid paid|ride rode ridden|ring rang rung|rise rose risen
run ran run|say said said|see saw seen|sell sold sold|send sent sent|shake shook shaken
sing sang sung|sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|stand stood stood
steal stole stolen|swim swam swum|take took taken|teach taught taught|tear tore torn
tell told told|think thought thought|throw threw thrown|understand understood understood
wake woke woken|wear wore worn|win won won|write wrote written|blow blew blown
"""
_REGULAR = lexicon(
    "accept add agree allow answer apologise apologize appear apply arrive ask bark believe belong",
    "borrow bother call carry change check clean close collect compare complain contain continue",
    "cook count create cry dance decide deliver deny depend describe deserve discuss dislike drop",
    "earn end enjoy enter exist expect explain fail finish fix follow happen hate help hope",
    "improve include invite join jump kill kiss last laugh learn like listen live look love manage",
    "marry matter miss move need notice offer open order paint pass phone plan play prefer prepare",
    "produce promise protect provide pull push rain reach realise realize receive recommend refuse",
    "remember repair repeat reply require rest return save seem share shout show sign smell smile",
    "smoke sound start stay stop study suggest supply support suppose talk taste thank touch",
    "train travel treat try turn use visit wait walk want warn wash waste watch water wish work",
    "worry",
)
_DOUBLING = lexicon("drop plan stop prefer regret rob begin get run sit swim win travel")
UNCLEAR_PAST = lexicon("found fell saw felt left broke spoke rose rode wound lay bore shook wove")
"""Past forms that are verbs of their own, nouns or adjectives as well."""


@cache
def bases() -> frozenset[str]:
    """The base forms of verbs whose past differs from it."""
    return _REGULAR | frozenset(_irregular())


@cache
def past_of() -> Mapping[str, str]:
    """The past of each base form."""
    return {
        **{base: _with(base, "ed") for base in _REGULAR},
        **{base: past for base, (past, _) in _irregular().items()},
    }


@cache
def base_of_past() -> Mapping[str, str]:
    """The base form of each past."""
    return {past: base for base, past in past_of().items()}


@cache
def participle_of_past() -> Mapping[str, str]:
    """The participle of each past that is not its own participle."""
    return {past: part for past, part in _irregular().values() if past != part}


@cache
def third_of() -> Mapping[str, str]:
    """The form with he, she and it, of each base form."""
    return {base: _third(base) for base in bases()}


@cache
def base_of_third() -> Mapping[str, str]:
    """The base form of each form with he, she and it."""
    return {third: base for base, third in third_of().items()}


def gerund(base: str) -> str:
    """The form in -ing."""
    return _with(base, "ing")


@cache
def _irregular() -> Mapping[str, tuple[str, str]]:
    entries = (entry.split() for entry in _IRREGULAR.replace("\n", "|").split("|") if entry)
    return {base: (past, participle) for base, past, participle in entries}


def _third(base: str) -> str:
    if base in {"be", "have"}:
        return {"be": "is", "have": "has"}[base]
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s")


def _with(base: str, ending: str) -> str:
    if base in _DOUBLING:
        return base + base[-1] + ending
    if base.endswith("ie") and ending == "ing":
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye")) and base != "be":
        return base[:-1] + ending
    if base.endswith("ee") and ending == "ed":
        return base + "d"
    if ending == "ed" and base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + ending
