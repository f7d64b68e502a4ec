"""Models: what writes the versions of a text.

A writer is named by a string: `editor` (rules, no model), `caller` (the calling agent), `host` (the
model of the calling program), or `provider:name` for anything PydanticAI knows. Writers that need
PydanticAI import it when used.
"""

from typing import Literal

from sifaka.models.protocol import Generation, Model

AUTO: Literal["auto"] = "auto"
"""The editor, then the calling agent; a server puts its configured provider in its place."""
CALLER: Literal["caller"] = "caller"
"""The calling agent: the run waits for what it submits."""
HOST: Literal["host"] = "host"
"""The model of the program that called us."""

__all__ = ["AUTO", "CALLER", "HOST", "Generation", "Model"]
