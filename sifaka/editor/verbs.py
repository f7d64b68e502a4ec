"""Common English verbs and their forms."""

from collections.abc import Mapping
from functools import cache

from sifaka.editor.words import words_of

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
_WORDS = words_of("verbs")
UNCLEAR_PAST = _WORDS["unclear_past"]
"""Past forms that are verbs of their own, nouns or adjectives as well."""


@cache
def bases() -> frozenset[str]:
    """The base forms of verbs whose past differs from it."""
    return _WORDS["regular"] | frozenset(_irregular())


@cache
def past_of() -> Mapping[str, str]:
    """The past of each base form."""
    return {
        **{base: _with(base, "ed") for base in _WORDS["regular"]},
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
    if base in _WORDS["doubling"]:
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
