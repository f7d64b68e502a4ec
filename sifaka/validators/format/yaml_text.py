"""YAML: parsed without running anything, within bounds, and checked against a schema."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

import yaml

from sifaka.text.markdown import front_matter
from sifaka.text.prose import Span
from sifaka.validators.format.reading import (
    DEPTH_LIMIT,
    Locate,
    Malformed,
    Schema,
    as_json,
    no_place,
)
from sifaka.validators.format.schema import Json, Path

_DATA = re.compile(r"(?:\s*#.*\n)*\s*(?:[\[{&!%]|- |[^\s:]+:(?:\s|\Z)|---)")
"""The beginning of a further document of YAML, where prose would be under front matter."""
EXPANSION_LIMIT = 100_000
"""The most values that aliases may add."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader over libyaml where PyYAML was built with it: ten times as fast."""


def read(text: str, schema: Schema | None) -> tuple[Json, Locate]:
    """The value of a text that is YAML, or of its front matter, and where its parts are.

    Without a schema it may be several documents, each a mapping or a list, for nearly any prose is
    a YAML string; there is no value then. With one it is a single document.

    Raises:
        Malformed: It is not YAML, or not of that form.
    """
    text = text[: _end_of_front_matter(text)]
    kinds = _scan_kinds(text)
    if not kinds:
        raise Malformed("it holds no value")
    if schema is not None:
        if len(kinds) > 1:
            raise Malformed(f"it is {len(kinds)} documents, and the schema is for one")
        return _load_value(text)
    if "scalar" in kinds:
        raise Malformed("it is plain text, not a mapping or a list")
    return None, no_place


def _end_of_front_matter(text: str) -> int | None:
    """The offset of the mark that closes it; None of a text that is YAML to its end."""
    end = front_matter(text) if text.startswith(("---", "\ufeff---")) else 0
    if not end or not text[end:].strip() or _DATA.match(text, end):
        return None
    return text.rindex("\n", 0, len(text[:end].rstrip())) + 1


def _locate_value(node: Any, shift: int, path: Path) -> Span | None:
    """The place of the value at a path in a node."""
    for step in path:
        if node.id == "mapping":
            node = next((value for key, value in node.value if key.value == step), None)
        else:
            is_item = node.id == "sequence" and isinstance(step, int) and step < len(node.value)
            node = node.value[step] if is_item else None
        if node is None:
            return None
    start: int = node.start_mark.index + shift
    return start, max(start, node.end_mark.index + shift)


class _Node:
    """A value that has begun and not ended, or the text itself."""

    def __init__(self, *, is_mapping: bool, anchor: str | None) -> None:
        self.is_mapping, self.anchor = is_mapping, anchor
        self.at_key = is_mapping
        self.size = 1
        self.keys: set[tuple[str, bool]] = set()

    def take(self, event: Any, position: int) -> None:
        """Go on to a value of this one, which may be a key.

        Raises:
            Malformed: The key was there before.
        """
        if self.at_key and isinstance(event, yaml.ScalarEvent):
            key = event.value, event.implicit[0]
            if key in self.keys:
                raise Malformed(f"the key {event.value[:60]!r} is given twice", position)
            if key != ("<<", True):
                self.keys.add(key)
        self.at_key = self.is_mapping and not self.at_key


def _scan_kinds(text: str) -> list[str]:
    """The kind of each document: `scalar` or `collection`.

    It follows the events of a text, which takes no recursion and builds nothing.

    Raises:
        Malformed: It does not parse, repeats a key, nests too deeply, or its aliases are unknown,
            endless or too many.
    """
    kinds: list[str] = []
    sizes: dict[str, int] = {}
    open_, expanded = [_Node(is_mapping=False, anchor=None)], 0
    try:
        for event in cast("Any", yaml).parse(text.removeprefix("\ufeff"), Loader=_LOADER):
            at: int = event.start_mark.index + text.startswith("\ufeff")
            is_alias = isinstance(event, yaml.AliasEvent)
            if isinstance(event, yaml.NodeEvent):
                if len(open_) == 1:
                    kinds.append("scalar" if isinstance(event, yaml.ScalarEvent) else "collection")
                open_[-1].take(event, at)
                # libyaml itself crashes the process some way beyond.
                if len(open_) > DEPTH_LIMIT and isinstance(event, yaml.CollectionStartEvent):
                    raise Malformed(f"it is nested more than {DEPTH_LIMIT} levels deep", at)
                node = _Node(
                    is_mapping=isinstance(event, yaml.MappingStartEvent),
                    anchor=None if is_alias else event.anchor,
                )
                if is_alias:
                    node.size = _size_of(event.anchor, open_, sizes, at)
                    expanded += node.size
                open_.append(node)
            if expanded > EXPANSION_LIMIT:
                raise Malformed(f"its aliases add more than {EXPANSION_LIMIT} values", at)
            if is_alias or isinstance(event, yaml.ScalarEvent | yaml.CollectionEndEvent):
                done = open_.pop()
                open_[-1].size += done.size
                if done.anchor is not None:
                    sizes[done.anchor] = done.size
            elif isinstance(event, yaml.DocumentStartEvent):
                sizes.clear()
    except (yaml.YAMLError, UnicodeError) as error:
        raise _describe_error(error, text) from None
    return kinds


def _size_of(anchor: str, open_: Iterable[_Node], sizes: Mapping[str, int], position: int) -> int:
    """The number of values that an alias stands for."""
    if any(node.anchor == anchor for node in open_):
        raise Malformed(f"*{anchor} refers to itself", position)
    if anchor not in sizes:
        raise Malformed(f"*{anchor} refers to nothing", position)
    return sizes[anchor]


def _load_value(text: str) -> tuple[Json, Locate]:
    """The document as JSON has it, and where its values are.

    Dates are strings, keys too, unknown tags are ignored.

    Raises:
        Malformed: A value does not suit its tag.
    """

    class Loader(_LOADER):
        """One with constructors of its own."""

    def generic(loader: Any, node: Any) -> Any:
        deep = () if isinstance(node, yaml.ScalarNode) else (True,)
        return getattr(loader, f"construct_{node.id}")(node, *deep)

    for tag in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:binary", None):
        Loader.add_constructor(tag, generic)
    loader = Loader(text.removeprefix("\ufeff"))
    try:
        node = loader.get_single_node()
        value = as_json(loader.construct_document(node))
    except yaml.YAMLError as error:
        raise _describe_error(error, text) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        # What PyYAML raises when an explicit tag is on a value that is none, as in `!!bool x`.
        raise Malformed("a value does not suit its tag") from None
    finally:
        loader.dispose()
    return value, partial(_locate_value, node, int(text.startswith("\ufeff")))


def _describe_error(error: Exception, text: str) -> Malformed:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable")
    position: int = mark.index if mark is not None else getattr(error, "position", 0)
    return Malformed(" ".join(reason.split()), position + text.startswith("\ufeff"))
