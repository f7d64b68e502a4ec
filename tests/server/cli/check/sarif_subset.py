"""The objects of SARIF 2.1.0 that the reports use, after the text of the standard, as JSON Schema.

Other properties are refused, also those that the standard has. The schema of OASIS is larger;
`SARIF_SCHEMA` names its file for the same test.
"""

from typing import Any

_COUNT = {"type": "integer", "minimum": 1}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], least: int = 0, *, unique: bool = False) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "uniqueItems": unique}


_TEXT = _object({"text": {"type": "string"}}, "text")
_ARTIFACT = _object({"uri": {"type": "string", "format": "uri-reference"}})
_REGION = _object(
    dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), _COUNT), "startLine"
)
_PLACE = _object({"artifactLocation": _ARTIFACT, "region": _REGION}, "artifactLocation")
_LOCATION = _object({"physicalLocation": _PLACE})
_RULE = _object(
    {
        "id": {"type": "string"},
        "shortDescription": _TEXT,
        "helpUri": {"type": "string", "format": "uri"},
        "properties": {"type": "object"},
    },
    "id",
)
_DRIVER = _object(
    {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "rules": _list(_RULE, unique=True),
    },
    "name",
)
_REPLACEMENT = _object({"deletedRegion": _REGION, "insertedContent": _TEXT}, "deletedRegion")
_CHANGE = _object(
    {"artifactLocation": _ARTIFACT, "replacements": _list(_REPLACEMENT, 1)},
    "artifactLocation",
    "replacements",
)
_FIX = _object({"description": _TEXT, "artifactChanges": _list(_CHANGE, 1)}, "artifactChanges")
_RESULT = _object(
    {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": _list(_LOCATION),
        "partialFingerprints": {
            "type": "object",
            "additionalProperties": {"type": "string"},
        },
        "fixes": _list(_FIX, unique=True),
    },
    "message",
)
_NOTIFICATION = _object(
    {"level": _LEVEL, "message": _TEXT, "locations": _list(_LOCATION, unique=True)}, "message"
)
_INVOCATION = _object(
    {
        "executionSuccessful": {"type": "boolean"},
        "toolExecutionNotifications": _list(_NOTIFICATION),
    },
    "executionSuccessful",
)
_RUN = _object(
    {
        "tool": _object({"driver": _DRIVER}, "driver"),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "invocations": _list(_INVOCATION),
        "results": _list(_RESULT),
    },
    "tool",
)
SUBSET: dict[str, Any] = _object(
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": _list(_RUN),
    },
    "version",
    "runs",
)
