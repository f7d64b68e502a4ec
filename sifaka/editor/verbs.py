"""Common English verbs and their forms."""

from collections.abc import Mapping

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


def gerund(base: str) -> str:
    """The form in -ing."""
    return _with(base, "ing")


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


_FORMS = [entry.split() for entry in _IRREGULAR.replace("\n", "|").split("|") if entry]
PAST_OF: Mapping[str, str] = {
    **{base: _with(base, "ed") for base in _WORDS["regular"]},
    **{base: past for base, past, _ in _FORMS},
}
"""The past of each base form."""
BASES = frozenset(PAST_OF)
"""The base forms of verbs whose past differs from it."""
BASE_OF_PAST: Mapping[str, str] = {past: base for base, past in PAST_OF.items()}
PARTICIPLE_OF_PAST: Mapping[str, str] = {past: part for _, past, part in _FORMS if past != part}
"""The participle of each past that is not its own participle."""
THIRD_OF: Mapping[str, str] = {base: _third(base) for base in BASES}
"""The form with he, she and it, of each base form."""
BASE_OF_THIRD: Mapping[str, str] = {third: base for base, third in THIRD_OF.items()}
