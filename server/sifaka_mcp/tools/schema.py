"""Shortens the schemas of tools: what a host shows its model at every turn says everything once."""

import json
from collections.abc import Callable
from typing import Any, cast


def terse(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles, which repeat the names, and with plain unions as lists of types."""
    return _mapped(schema, _terse)


def _terse(node: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in node.items() if key != "title"}
    options: list[dict[str, Any]] = kept.get("anyOf", [])
    if options and all(option.keys() == {"type"} for option in options):
        del kept["anyOf"]
        kept["type"] = [option["type"] for option in options]
    return kept


def without_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the null that means an argument left out: leaving it out says that."""
    return _mapped(schema, _without_null)


def brief(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without what leaving an argument out means anyway; bounds are left to the error."""
    return _mapped(schema, _brief)


_BOUNDS = frozenset({"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"})


def _brief(node: dict[str, Any]) -> dict[str, Any]:
    if "type" not in node:
        return node
    default = node.get("default", ...)
    needless = set(_BOUNDS)
    if default in (None, False, "", 0) or node["type"] == "boolean":
        needless.add("default")
    if node.get("additionalProperties") is True:
        needless.add("additionalProperties")
    return {key: value for key, value in node.items() if key not in needless}


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its definitions in the places that use them.

    That unknown names are refused it says once, at its root; further inside the error says it.
    """
    definitions = schema.get("$defs", {})

    def inlined(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            definition = definitions[node["$ref"].removeprefix("#/$defs/")]
            node = {**definition, **{k: v for k, v in node.items() if k != "$ref"}}
        if node.get("additionalProperties") is False and node is not schema:
            node = {k: v for k, v in node.items() if k != "additionalProperties"}
        return node

    return {k: v for k, v in _mapped(schema, inlined).items() if k != "$defs"}


def hoisted(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the common keys of a union's branches moved to the union."""
    return _mapped(schema, _hoisted)


def _hoisted(node: dict[str, Any]) -> dict[str, Any]:
    branches: list[dict[str, Any]] = node.get("oneOf", [])
    if not branches or any(branch.get("type") != "object" for branch in branches):
        return node
    shared = [
        name
        for name in branches[0].get("required", [])
        if all(name in branch.get("required", []) for branch in branches)
    ]
    return {
        **node,
        "type": "object",
        "required": shared,
        "oneOf": [_without(branch, shared) for branch in branches],
    }


def _without(branch: dict[str, Any], shared: list[str]) -> dict[str, Any]:
    own = [name for name in branch.get("required", []) if name not in shared]
    kept = {key: value for key, value in branch.items() if key not in {"type", "required"}}
    return {**kept, "required": own} if own else kept


def inlined_once(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema in which a definition that is used once stands where it is used.

    Clients check every answer against it, and looking references up takes most of that time.
    """
    text = json.dumps(schema)
    once = {
        f"#/$defs/{name}": definition
        for name, definition in schema.get("$defs", {}).items()
        if text.count(f'"#/$defs/{name}"') == 1
    }

    def inlined(node: dict[str, Any]) -> dict[str, Any]:
        definition = once.get(node.get("$ref", ""))
        return node if definition is None else definition

    whole = _mapped(schema, inlined)
    kept = {n: d for n, d in whole.get("$defs", {}).items() if f"#/$defs/{n}" not in once}
    return {**{k: v for k, v in whole.items() if k != "$defs"}, **({"$defs": kept} if kept else {})}


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    options: list[Any] = node.get("anyOf", [])
    if {"type": "null"} not in options:
        return node
    rest = [option for option in options if option != {"type": "null"}]
    kept = {key: value for key, value in node.items() if key not in {"anyOf", "default"}}
    return {**kept, **(rest[0] if len(rest) == 1 else {"anyOf": rest})}


def _mapped(node: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Every schema inside a schema, changed; names of properties are not schemas."""
    if isinstance(node, list):
        return [_mapped(item, change) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _mapped(inner, change) for name, inner in cast("dict[str, Any]", value).items()}
        if key in {"properties", "$defs"}
        else _mapped(value, change)
        for key, value in change(cast("dict[str, Any]", node)).items()
    }
