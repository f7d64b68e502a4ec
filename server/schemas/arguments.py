"""Types of arguments."""

from typing import Annotated

from pydantic import BeforeValidator

OptionalText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string that may be left out. Not `str | None`: the SDK parses strings for such a field as JSON,
and a text that is JSON must arrive as it was sent."""
