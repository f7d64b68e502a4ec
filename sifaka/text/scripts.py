"""Languages that their script gives away."""

import re
from collections.abc import Mapping
from functools import cache

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
_OWN_LETTERS = {
    "cyrillic": (("uk", "[іїєґІЇЄҐ]"), ("be", "[ўЎ]"), ("sr", "[ђћјљњџЂЋЈЉЊЏ]")),
    "arabic": (("ur", "[ٹڈڑےں]"), ("fa", "[پچژگکی]")),
}
"""Letters that the script's largest language does not have, of the languages that do."""
_LARGEST = {"cyrillic": "ru", "arabic": "ar"}
SCRIPT_LANGUAGES = (
    "ru", "uk", "be", "bg", "sr", "ar", "fa", "ur", "ja", "zh", "ko", "el", "he", "hi", "bn", "ta",
    "te", "th", "ka", "hy",
)  # fmt: skip
"""The languages that `language_of_script` returns."""


@cache
def _letters() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS.items()}


def script(text: str) -> tuple[str, float]:
    """The script of most letters, and its share of them; `("", 0.0)` of a text without any."""
    if text.isascii():
        return ("latin", 1.0) if _letters()["latin"].search(text) else ("", 0.0)
    counts = {
        name: len(letters.findall(text)) * _LETTERS_OF_ONE.get(name, 1)
        for name, letters in _letters().items()
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
    letters = len(_letters()[name].findall(text))
    for language, own in _OWN_LETTERS.get(name, ()):
        if len(re.findall(own, text)) > 0.01 * letters:
            return language
    hard_signs = len(re.findall("[ъЪ]", text))
    # Two in a hundred letters of Bulgarian are this one, in Russian three in ten thousand.
    if name == "cyrillic" and hard_signs > 0.005 * letters and not re.search("[ыэЫЭ]", text):
        return "bg"
    return _LARGEST.get(name) or {"kana": "ja", "han": "zh", "hangul": "ko"}.get(name, name)
