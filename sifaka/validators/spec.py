"""The base of built-in validators as specs: strict options, and a JSON schema of few words."""

from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema

from sifaka._internal.immutable import Frozen
from sifaka._internal.naming import closest
from sifaka.calls.component import DataComponent
from sifaka.isolation import SHORT, run_limited
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought

NAME_LIMIT = 80
ISSUE_LIMIT = 200
"""The most issues one validator reports; its message counts them all."""


def usable_name(name: str) -> str:
    """The name, when results can be filed under it; raises ValueError otherwise."""
    if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
        raise ValueError(f"should be a printable name of 1 to {NAME_LIMIT} characters")
    return name.strip()


Name = Annotated[SkipJsonSchema[str], AfterValidator(usable_name)]
"""The name of a validator's results; too rarely given to be in the published schema."""


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems")


class Published(Frozen):
    """A model whose JSON schema is published to agents, who pay for every token of it."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_note: ClassVar[str] = ""
    """The schema's description, where the names do not explain themselves."""

    @model_validator(mode="before")
    @classmethod
    def _check_options(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        values = cast("Mapping[object, object]", data)
        options = [field.alias or name for name, field in cls.model_fields.items()]
        if unknown := [str(key) for key in values if key not in options]:
            kind = cls.model_fields["type"].default if "type" in options else "it"
            allowed = [option for option in options if option != "type"]
            similar = closest(unknown[0], allowed)
            hint = f"did you mean {similar!r}? " if similar else ""
            raise ValueError(
                f"unknown option {unknown[0][:40]!r}; {hint}{kind} takes {', '.join(allowed)}"
            )
        return values

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """The model's JSON schema without titles, docstrings, null branches and empty defaults.

        Bounds of numbers are left to the error, which is precise, and the flag `required` to the
        description of the list: every branch has it.
        """
        schema = handler(core_schema)
        definition = handler.resolve_ref_schema(schema)
        definition.pop("title", None)
        definition.pop("description", None)
        if cls.schema_note:
            definition["description"] = cls.schema_note
        properties = cast("dict[str, dict[str, Any]]", definition.get("properties", {}))
        if properties.get("required", {}).get("type") == "boolean":
            del properties["required"]
        properties |= {key: _shorten_schema(key, value) for key, value in properties.items()}
        if "type" in properties:
            definition["required"] = ["type", *definition.get("required", [])]
        return schema


class Spec(Published, DataComponent):
    """A built-in validator, which is its own spec."""

    name: Name = "validator"

    def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # shadows a dead v1 method
        self, thought: Thought
    ) -> ValidationResult | Awaitable[ValidationResult]:
        """Check `thought.text`; see `sifaka.validators.execution.Validator`."""
        raise NotImplementedError


class OptionalSpec(Spec):
    """A built-in validator with the flag that makes it binding or advice."""

    required: bool = True


class LimitedSpec(OptionalSpec):
    """A built-in validator that works on a long text in a worker process."""

    def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # shadows a dead v1 method
        self, thought: Thought
    ) -> ValidationResult | Awaitable[ValidationResult]:
        """Check a short text at once, and a long one in a process with limits."""
        original = thought.metadata.get("original")
        size = max(len(thought.text), len(original) if isinstance(original, str) else 0)
        return self.check(thought) if size <= SHORT else run_limited(self.check, thought, size=size)

    def check(self, thought: Thought) -> ValidationResult:
        """Check `thought.text`; see `sifaka.validators.execution.Validator`."""
        raise NotImplementedError


def _shorten_schema(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in schema.get("anyOf", []) if branch.get("type") != "null"]
    kept = {name: value for name, value in schema.items() if name not in {"title", "anyOf"}}
    if len(branches) == 1:
        kept = {**branches[0], **kept}
    elif branches:
        kept["anyOf"] = branches
    left_out = {*_BOUNDS, *(("type",) if "const" in kept else ())}
    if kept.get("default") in (None, [], "") or key in {"name", "type"}:
        left_out.add("default")
    if kept.get("additionalProperties") is True:
        left_out.add("additionalProperties")
    return {name: value for name, value in kept.items() if name not in left_out}
