"""Every registered component that reads foreign text, and how it takes a long one."""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Literal, get_args

from sifaka.calls.component import Binding
from sifaka.classifiers import CLASSIFIERS, classified, classifier
from sifaka.critics import CRITICS
from sifaka.critics.judge import JudgingCritic
from sifaka.evidence.claims.checker import EvidenceChecker
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.folder import SUFFIXES
from sifaka.evidence.sources.readers import READERS, decoded, read_document
from sifaka.isolation import run_limited
from sifaka.record.thought import Document, Thought
from sifaka.validators import VALIDATORS, adapter_of
from sifaka.validators.execution import run_validators
from sifaka.validators.format import Syntax
from tests.hostile.documents import DOCUMENTS
from tests.hostile.work import changed

Fire = Callable[[str], Awaitable[object]]
"""Has a component work on a text."""
Kind = Literal["linear", "limited", "foreign"]
"""`linear` stays in this process: its time is short, and grows no faster than the text. `limited`
goes through the door of `sifaka.isolation` from 5,000 characters on. `foreign` is code of others,
which is given up in its thread."""

KINDS: Mapping[str, Kind] = {
    "validator length": "linear",
    "validator regex": "limited",
    "validator content": "linear",
    "validator format": "limited",
    "validator readability": "limited",
    "validator preserve": "limited",
    "validator language": "limited",
    "validator classifier": "limited",
    "validator guardrails": "foreign",
    "validator evidence": "limited",
    "validator report": "limited",
    **dict.fromkeys((f"classifier {name}" for name in CLASSIFIERS), "limited"),
    "critic lint": "limited",
    "critic style": "limited",
    "critic evidence": "limited",
    **dict.fromkeys((f"reader {suffix}" for suffix in READERS), "limited"),
    **dict.fromkeys((f"reader .{name}" for name in ("md", "txt", "rst", "csv", "json")), "linear"),
}
"""The one table."""

_SPECS: Mapping[str, Mapping[str, Any]] = {
    "length": {"min_words": 5, "max_words": 50, "max_chars": 1_000},
    "regex": {"must_match": ["word"], "must_not_match": [r"\bteh\b", "a"]},
    "content": {"required": ["zebra"], "prohibited": [{"term": "teh", "replacement": "the"}, "a"]},
    "readability": {"max_grade": 1},
    "preserve": {"names": True},
    "language": {"expected": "en"},
    "classifier": {"name": "bias"},
}
"""The options of validators that do nothing without any; a new one may need some."""


def registered() -> frozenset[str]:
    """The names of all that the catalogues hold; of critics those that ask no model."""
    critics = (kind for kind, made in CRITICS.items() if not issubclass(made, JudgingCritic))
    return frozenset(
        f"{family} {name}"
        for family, names in (
            ("validator", VALIDATORS),
            ("classifier", CLASSIFIERS),
            ("critic", critics),
            ("reader", SUFFIXES),
        )
        for name in names
    )


def ways(name: str) -> Mapping[str, Fire]:
    """The ways in which a component is given a text, as by the formats that it knows."""
    family, _, kind = name.partition(" ")
    match family:
        case "validator" if kind == "format":
            each = get_args(Syntax)
            return {f"{name} {form}": partial(_validated, kind, {"format": form}) for form in each}
        case "validator":
            return {name: partial(_validated, kind, _SPECS.get(kind, {}))}
        case "classifier":
            return {name: partial(classified, classifier(kind))}
        case "critic":
            return {name: partial(_criticised, kind)}
        case _:
            return {name: partial(_read, kind)}


def _bound(component: Any) -> Any:
    return component.bind(Binding(checker=EvidenceChecker(Adapters(()), None)))


def _thought(text: str) -> Thought:
    original = changed(text)
    documents = (Document(text=text, title="The text"),)
    return Thought(text=text, metadata={"original": original}, pre_generation_context=documents)


async def _validated(kind: str, options: Mapping[str, Any], text: str) -> object:
    made = adapter_of(VALIDATORS[kind]).validate_python({"type": kind, **options})
    return (await run_validators([_bound(made)], _thought(text)))[made.name].message


async def _criticised(kind: str, text: str) -> object:
    feedback = await _bound(CRITICS[kind]()).critique(_thought(text))
    return "; ".join(feedback.degraded)


async def _read(suffix: str, text: str) -> object:
    content = DOCUMENTS[suffix](text) if suffix in DOCUMENTS else text.encode()
    if suffix in READERS:
        return await run_limited(read_document, suffix, content, size=len(text))
    return decoded(json.dumps(text).encode() if suffix == ".json" else content)
