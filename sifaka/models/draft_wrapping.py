"""What models put a text into: a JSON object, an answer after written reasoning, a choice."""

import json
import re
from typing import cast

_NAMES = (
    r"(?:(?:re)?written|revised|corrected|improved|shortened|edited|final|new|translated)?_?"
    r"(?:text|version|answer|output|result|response|content|translation|rewrite)"
)
_KEY = re.compile(_NAMES, re.IGNORECASE)
_FENCED_OBJECT = re.compile(r"`{3,}(?:json)?\s*(\{.*\})\s*`{3,}", re.DOTALL | re.IGNORECASE)
_ABOUT_OBJECTS = re.compile(r"json|object|dictionary|\bkeys?\b", re.IGNORECASE)
_LONGEST_KEY = 40
_PLACEHOLDER = re.compile(r"\W+|[\[<{(][^\n\])}>]{0,80}[\])}>]")
_WORKED = re.compile(
    r"\A\W{0,4}(?:reasoning|analysis|thoughts?|thinking|step 1)\b[^\n]{0,40}:[^\n]*\n",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"^\W{0,4}(?:final |revised |corrected |rewritten )?(?:answer|text|version|output)\W{0,3}:"
    r"[\s*]*",
    re.IGNORECASE | re.MULTILINE,
)
_CHOICE = re.compile(
    r"^\W{0,4}(?:option|version|variant|alternative)[ ]*(?:\d|[a-d]\b|one\b|two\b)\W{0,4}(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ABOUT_CHOICES = re.compile(
    r"option|version|variant|alternative|several|multiple|\b(?:two|three|four|five|\d+)\b",
    re.IGNORECASE,
)


def out_of_object(text: str, *, given: str, task: str) -> str | None:
    """The text in a JSON object that holds nothing else; None where there is none.

    Args:
        text: The answer.
        given: The text that it was made from: one that is an object itself stays one.
        task: The task, which may ask for an object.
    """
    body = text.strip()
    if (fenced := _FENCED_OBJECT.fullmatch(body)) is not None:
        body = fenced[1]
    if not (body.startswith("{") and body.endswith("}")) or given.lstrip().startswith("{"):
        return None
    if _ABOUT_OBJECTS.search(task):
        return None
    found = _read(body)
    if not isinstance(found, dict) or len(members := cast("dict[str, object]", found)) != 1:
        return None
    ((key, value),) = members.items()
    named = len(key) <= _LONGEST_KEY and _KEY.fullmatch(key)
    return value if named and isinstance(value, str) and value.strip() else None


def is_placeholder(text: str) -> bool:
    """True for what stands for a text: signs alone, or a few words in brackets that are no JSON."""
    return _PLACEHOLDER.fullmatch(text) is not None and _read(text) is None


def _read(text: str) -> object:
    """The value that a text is in JSON; None where it is none."""
    try:
        return cast("object", json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def after_reasoning(text: str, *, known: str) -> str | None:
    """The text after an answer's own reasoning in words, where both have a label."""
    if not _WORKED.match(text.lstrip()) or _WORKED.match(known.lstrip()) or _ANSWER.search(known):
        return None
    labels = list(_ANSWER.finditer(text))
    rest = text[labels[-1].end() :] if labels else ""
    return rest if rest.strip() else None


def is_choice(text: str, *, known: str, task: str) -> bool:
    """True when an answer offers several texts to choose from."""
    offered = len(_CHOICE.findall(text)) > 1
    return offered and not _CHOICE.search(known) and not _ABOUT_CHOICES.search(task)
