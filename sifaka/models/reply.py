"""Reading a model's reply as a form: by its tool call, else by the JSON in what it wrote."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel

from sifaka.models.coercion import Misfit, fit
from sifaka.models.json_objects import Found, finite, objects_in, strict
from sifaka.models.word_forms import normal

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

Answer = TypeVar("Answer", bound=BaseModel)

LONGEST_REPLY = 1_000_000
"""Characters; what is longer is malformed and not parsed."""

_WRAPPERS = frozenset(
    {
        "answer", "args", "arguments", "data", "input", "json", "output", "parameters", "params",
        "response", "result",
    }
)  # fmt: skip
"""Keys under which models put the answer instead of giving it."""
_HEADLESS = re.compile(r"[\"'][A-Za-z_ ]+[\"']\s*:")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character: nothing that holds one can be written down as UTF-8."""
_QUOTING = str.maketrans(dict.fromkeys("‘’“”'`", '"') | {"\\": None})


class Unreadable(Exception):
    """A reply is not the form; the message says why, in words the model may be told."""


def size_of(response: "ModelResponse") -> int:
    """How many characters there are to read, roughly."""
    calls, text = _parts(response)
    return len(text) + sum(len(c) if isinstance(c, str) else len(str(c)) for c in calls)


def read(response: "ModelResponse", form: type[Answer], question: str) -> Answer:
    """The form that a reply amounts to.

    An object in the reply's words that stands in the question word for word is an echo of the
    reviewed text, not an answer. Answers that contradict each other in what the form requires are
    none: an ambiguous verdict is no verdict.

    Raises:
        Unreadable: There is no answer in it.
    """
    if size_of(response) > LONGEST_REPLY:
        raise Unreadable(f"it has more than {LONGEST_REPLY:,} characters")
    answers: list[Answer] = []
    reason = "it is empty"
    try:
        for found in _found(response):
            reason = "it holds no JSON object with an answer"
            if found.source is not None and _squeezed(found.source) in _squeezed(question):
                continue
            try:
                answers.append(_storable(_unwrapped(found.value, form), form))
            except Misfit as error:
                reason = str(error)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if not answers:
        raise Unreadable(reason)
    required = {name for name, field in form.model_fields.items() if field.is_required()}
    decisive = [answer.model_dump(include=required) for answer in answers]
    if any(other != decisive[0] for other in decisive):
        raise Unreadable("it holds several answers that contradict each other")
    return answers[-1]


def _storable(sent: dict[str, object], form: type[Answer]) -> Answer:
    """The form that was sent, a U+FFFD in place of each lone surrogate.

    Raises:
        Misfit: See `fit`.
    """
    answer = fit(cast("dict[str, object]", _whole(sent)), form)
    dumped = answer.model_dump()
    whole = cast("dict[str, object]", _whole(dumped))
    # JSON inside a string is decoded only when it is fitted.
    return answer if whole == dumped else fit(whole, form)


def _whole(value: object) -> object:
    """The value without lone surrogates in its strings and keys."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return {_whole(key): _whole(item) for key, item in members.items()}
    return value


def _parts(response: "ModelResponse") -> "tuple[list[str | dict[str, Any]], str]":
    """The arguments of tool calls, and the text."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    calls = [
        cast("str | dict[str, Any]", part.args)
        for part in response.parts
        if isinstance(part, ToolCallPart) and part.args
    ]
    return calls, "".join(p.content for p in response.parts if isinstance(p, TextPart)).strip()


def _found(response: "ModelResponse") -> Iterator[Found]:
    """The objects of a reply: of its tool calls, or else of its text."""
    calls, text = _parts(response)
    for arguments in calls:
        if isinstance(arguments, dict):
            yield Found(finite(arguments))
        else:
            # What was sent as an answer is one, whatever the text holds.
            yield from (
                found._replace(source=None) if _begins_with(arguments, found) else found
                for found in _written(arguments.strip())
            )
    if not calls:
        yield from _written(text)


def _begins_with(arguments: str, found: Found) -> bool:
    return found.source is not None and arguments.lstrip().startswith(found.source)


def _written(text: str) -> Iterator[Found]:
    try:
        value = strict(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        yield Found(cast("dict[str, object]", value), text)
    elif isinstance(value, str):  # JSON in a JSON string
        yield from objects_in(value)
    elif _HEADLESS.match(text):
        yield from objects_in("{" + text)
    else:
        yield from objects_in(text)


def _unwrapped(value: dict[str, object], form: type[BaseModel]) -> dict[str, object]:
    """The object itself, or the one inside it when it only wraps the answer."""
    for _ in range(3):
        if any(normal(key) in form.model_fields for key in value):
            return value
        inner = [
            item
            for key, item in value.items()
            if normal(key) in _WRAPPERS or normal(key) == form.__name__.casefold()
        ]
        if len(inner) != 1:
            return value
        (only,) = inner
        if isinstance(only, str):
            try:
                only = strict(only)
            except (ValueError, RecursionError):
                return value
        if not isinstance(only, dict):
            return value
        value = cast("dict[str, object]", only)
    return value


def _squeezed(text: str) -> str:
    """The text without what differs when it is quoted: spaces, backslashes, kinds of quotes."""
    return "".join(text.translate(_QUOTING).split()).casefold()
