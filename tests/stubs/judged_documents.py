"""The documents in a verifier's question, as a model reads them."""

import re
from collections.abc import Callable, Mapping
from typing import Any

_CRITERION = re.compile(r"^- (\S+) \([^)]*\): (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^Document (\d+), by ([^:\n]+):\n\n", re.MULTILINE)
_FRAME = r"<{label} id=(\w+)>\n(.*?)\n</{label} id=\1>"


def framed(question: str, label: str) -> str:
    """The text between the marks of a label."""
    found = re.search(_FRAME.format(label=label), question, re.DOTALL)
    return found.group(2) if found else ""


def documents_in(question: str) -> list[tuple[int, str, Mapping[str, str]]]:
    """The number and the text of each document, and its criteria by their ids."""
    criteria = dict(_CRITERION.findall(framed(question, "criteria")))
    parts = _NUMBERED.split(question)[1:]
    if not parts:
        return [(1, framed(question, "document"), criteria)]
    return [
        (
            int(number),
            framed(text, "document"),
            {name: criteria[name] for name in names.split(", ")},
        )
        for number, names, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def judgements(
    question: str, judge: Callable[[str, str, str], Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """An answer: what a judge says by a criterion's id, its words and the document."""
    return {
        "judgements": [
            {"document": number, "criterion": name, **judge(name, wanted, document)}
            for number, document, criteria in documents_in(question)
            for name, wanted in criteria.items()
        ]
    }
