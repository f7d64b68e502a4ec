"""Is the text well-formed CSV, HTML, JSON, Markdown, TOML, XML or YAML?"""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from math import inf
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from sifaka._internal.immutable import FrozenJson, thawed
from sifaka.extras import require
from sifaka.isolation import run_limited, run_limited_in_thread
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name, OptionalSpec

__all__ = ["FormatValidator"]

Syntax = Literal["csv", "html", "json", "markdown", "toml", "xml", "yaml"]
"""The formats, each with a reader in the module of its name."""
_OF_DATA = ("csv", "json", "toml", "yaml")
"""Those whose values a schema can describe."""
SECONDS = 10.0
"""Seconds of processor time that a text may take."""
SHORT_SCHEMA = 1_000
"""The most characters of a schema that is checked at once."""
SCHEMA_CHECK_SECONDS = 5.0
"""Seconds of processor time that the check of a longer one may take."""


def _accept_schema(schema: Mapping[str, object]) -> Mapping[str, object]:
    from sifaka.validators.format.schema import schema_json

    _check_schema(schema_json(thawed(schema)))
    return schema


@lru_cache(maxsize=16)
def _check_schema(schema: str) -> None:
    """Pass a schema, as JSON, that can be used; of a long one a process with limits finds out."""
    from sifaka.validators.format.schema import check_schema

    size = inf if len(schema) > SHORT_SCHEMA else 0
    try:
        run_limited_in_thread(check_schema, schema, size=size, seconds=SCHEMA_CHECK_SECONDS)
    except (MemoryError, OSError) as error:  # it took too much, or its process has ended
        raise ValueError(f"it could not be checked: {error or type(error).__name__}") from None


class FormatValidator(OptionalSpec):
    """Parses the text, and checks data against a JSON schema where one is given.

    The schema is passed as `schema=` and dumped under that name; the attribute is `schema_`,
    because pydantic keeps the other name for itself. References in it are resolved within it and
    never fetched. Of a text that goes on as prose after front matter, `yaml` checks that alone.
    The rows of `csv` are objects of strings.
    Long texts, HTML and schemas are worked on in a process with limits.
    """

    schema_note: ClassVar[str] = "yaml: of Markdown, its front matter"
    type: Literal["format"] = "format"
    name: Name = "format"
    format: Syntax
    schema_: Annotated[FrozenJson, AfterValidator(_accept_schema)] | None = Field(
        default=None, alias="schema"
    )

    @model_validator(mode="after")
    def _check_schema_fits(self) -> "FormatValidator":
        if self.format == "html":
            require("the format `html`", "evidence", "turbohtml")
        if self.schema_ is not None and self.format not in _OF_DATA:
            raise ValueError(f"a schema goes with {', '.join(_OF_DATA)}, not with {self.format}")
        return self

    async def validate(self, thought: Thought) -> ValidationResult:
        """Parse a short text in a thread, and HTML, a long text or one with a schema elsewhere."""
        # The reader of HTML is young and compiled: what ends its process must not end this one.
        size = len(thought.text) if self.schema_ is None and self.format != "html" else inf
        schema = json.dumps(thawed(self.schema_))  # which reaches a process faster
        return await run_limited(
            _check_text, self.format, thought.text, schema, size=size, seconds=SECONDS
        )


def _check_text(format: Syntax, text: str, schema: str) -> ValidationResult:
    # Imported here, so that who checks no format does not wait for the parsers.
    module = import_module(f"{__name__}.{format}_text")
    if format == "markdown":
        return module.check(text)
    from sifaka.validators.format.reading import checked

    return checked(format.upper(), text, json.loads(schema), module.read)
