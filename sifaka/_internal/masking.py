"""Secrets, kept out of what is reported or recorded about failures.

Two ways: by the shape of well-known keys and of places where a secret is, and by the very
values that `conceal` was given. Texts under review never pass through here.
"""

import re
import threading
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

MASK = "***"
_SHORTEST, _SHORTEST_WORD = 8, 20
"""Characters of a value that is a secret; a plain word is one only when it is very long."""
_SHAPES = (
    (
        re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL),
        MASK,
    ),
    (re.compile(r"\bsk-[\w-]{8,}"), "sk-***"),
    (
        # What comes before the token is looked at once, and only where there may be one: a text of
        # nothing but beginnings would otherwise be read again from each of them.
        re.compile(
            r"(?<![\w-])(?=[\w-]{11,}+\.[\w-]{4,}+\.)((?:[\w-]*?-)??)"
            r"eyJ[\w-]{8,}+\.[\w-]{4,}+\.[\w-]*+"
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b(Bearer)\s+[^\s\"',;]{6,}", re.IGNORECASE), r"\1 ***"),
    (re.compile(r"\b(Basic)\s+(?=[A-Za-z]*[0-9+/=])[\w+/=-]{6,}", re.IGNORECASE), r"\1 ***"),
    (
        re.compile(
            r"\b(?:AIza|gh[opsu]_|github_pat_|glpat-|xox[abps]-|AKIA|ASIA|gsk_|sfk_|hf_|xai-|ya29\."
            r"|[rs]k_live_|pplx-|tvly-)[\w-]{8,}"
        ),
        MASK,
    ),
    (
        re.compile(
            r"\b((?:[\w-]{0,40}[_-])?(?:api[_-]?key|secret|password|passwd|token|access[_-]?key))"
            r"([\"']?\s*[=:]\s*[\"']?)(?!\.\.\.|<|(?-i:[A-Z_]{2,15}\b))[^\s\"'&,;]+",
            re.IGNORECASE,
        ),
        r"\1\2***",
    ),
    (
        re.compile(
            r"\b(Authorization[\"']?\s*[=:]\s*[\"']?)(?!(?:Bearer|Basic)\s)[^\s\"',;]+"
            r"(?:[ ][^\s\"',;]{6,})?",
            re.IGNORECASE,
        ),
        r"\1***",
    ),
    (re.compile(r"://(?!\[|USER:PASSWORD@)[^/\s@]*@"), "://***@"),
)
"""Placeholders, as in the forms of URLs that our errors show, are none of them."""
_SECRET_NAME = re.compile(
    r"(?:API_?KEY|ACCESS_KEY|STATE_KEYS|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)\Z", re.IGNORECASE
)
_USERINFO = re.compile(r"//(?:[^/\s,]*?:)?([^\s,]*)@")

_secrets: set[str] = set()
_pattern: re.Pattern[str] | None = None
_changing = threading.Lock()


def masked(text: str) -> str:
    """The text with a mark in place of each secret in it."""
    if _pattern is not None:
        text = _pattern.sub(MASK, text)
    for shape, replacement in _SHAPES:
        text = shape.sub(replacement, text)
    return text


def conceal(secrets: Iterable[str]) -> None:
    """Have these values masked from now on, wherever this process reports failures.

    What is too short for a secret, or could be an ordinary word, is left out: masking it would
    hide more than a secret.
    """
    global _pattern
    with _changing:
        for value in secrets:
            if len(value) >= (_SHORTEST_WORD if value.isalpha() else _SHORTEST):
                _secrets.update({value, quote(value, safe=""), unquote(value)})
        longest_first = sorted(_secrets, key=len, reverse=True)
        _pattern = re.compile("|".join(map(re.escape, longest_first))) if _secrets else None


def secrets_in(environ: Mapping[str, str]) -> Iterable[str]:
    """The values of variables whose names say that they hold a secret, lists split."""
    for name, value in environ.items():
        if _SECRET_NAME.search(name):
            yield value.strip()
            yield from (part.strip() for part in value.split(","))


def passwords_in(url: str) -> Iterable[str]:
    """The user information before the host of a URL, or of several URLs with commas."""
    return (match[1] for match in _USERINFO.finditer(url))
