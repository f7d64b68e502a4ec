"""The schemas of tools as they are listed.

What a host shows its model at every turn says everything once: it should not cost more than it
tells.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from sifaka.critics import CRITICS
from sifaka.validators import UNLISTED, VALIDATORS, ValidatorSpec, adapter_of


class _Listing(GenerateJsonSchema):
    """Leaves room for the validators, which `listed_validator` lists."""

    def function_plain_schema(self, schema: Any) -> JsonSchemaValue:
        return {}


def of_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    listed = _shortened(model.model_json_schema(schema_generator=_Listing))
    for name, item in (("validators", listed_validator), ("critics", listed_critic)):
        if name in listed["properties"]:
            listed["properties"][name]["items"] = _shortened(_Listing().sort(item()))
    return listed


def _shortened(schema: dict[str, Any]) -> dict[str, Any]:
    return compact(brief(terse(without_nulls(schema))))


def of_result(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's structured result."""
    return inlined_once(terse(model.model_json_schema()))


def listed_critic() -> JsonSchemaValue:
    """A critic as an object, in place of which its name is taken."""
    text: JsonSchemaValue = {"type": "string"}
    kinds = [kind for kind in CRITICS if kind not in UNLISTED]
    return {
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {"type": "string", "enum": kinds, "description": _CRITICS},
            "rubric": text,
            "principles": {"type": "array", "items": text},
            "roles": {"type": "array", "items": text},
            "n": {"type": "integer"},
        },
    }


_CRITICS = (
    "all but lint and style ask a model. prompt takes rubric; constitutional: principles; "
    "n_critics: roles; self_consistency: n"
)
_VALIDATORS = (
    "length takes min_/max_words, min_/max_chars; regex: must_match, must_not_match; content: "
    "required, prohibited; format: format, schema; readability: max_grade; preserve (figures, "
    "links, quotes, code): names; language: expected; classifier: name, threshold, allowed"
)
_RARE = frozenset({"guardrails"})
"""Types that need a package which few have installed; the catalogue tells of them."""
_RARE_OPTIONS = frozenset(
    {"type", "case_sensitive", "whole_word", "must_pass", "numbers", "urls", "quotes", "code"}
)
"""Options that are too rarely given to be listed, and the type, which all have."""


def listed_validator() -> JsonSchemaValue:
    """One object with the options of all listed validators.

    Dialects of hosts know no unions, and the free objects among the options they close: so a JSON
    schema may be given as JSON in a string, and a prohibited term as a string alone.
    """
    options: dict[str, Any] = {"type": {"type": "string", "enum": [], "description": _VALIDATORS}}
    definitions = adapter_of(ValidatorSpec).json_schema()["$defs"]
    for kind, validator in VALIDATORS.items():
        if kind not in UNLISTED | _RARE:
            options["type"]["enum"].append(kind)
            options.update(
                {
                    name: _inlined(option, definitions)
                    for name, option in definitions[validator.__name__]["properties"].items()
                    if name not in _RARE_OPTIONS
                }
            )
    options["schema"] = {"type": "string", "description": "JSON schema"}
    options["prohibited"] = options["required"]
    options["name"]["type"] = "string"
    return {"type": "object", "required": ["type"], "properties": options}


def _inlined(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    known = cast("dict[str, Any]", node)
    if "$ref" in known:
        return definitions[known["$ref"].removeprefix("#/$defs/")]
    return {key: _inlined(value, definitions) for key, value in known.items() if key != "default"}


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

    That unknown names are refused the error says, which is precise.
    """
    definitions = schema.get("$defs", {})

    def inlined(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            definition = definitions[node["$ref"].removeprefix("#/$defs/")]
            node = {**definition, **{k: v for k, v in node.items() if k != "$ref"}}
        if node.get("additionalProperties") is False:
            node = {k: v for k, v in node.items() if k != "additionalProperties"}
        return node

    return {k: v for k, v in _mapped(schema, inlined).items() if k != "$defs"}


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
