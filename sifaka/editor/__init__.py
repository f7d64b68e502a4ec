"""The rule-based editor: finds what is wrong with a text and fixes what is certain.

`lint` reports, `apply` makes the safe fixes of a report, `edit` repeats both until nothing is left
to do. `RULES` is the catalogue of what it looks for.
"""

from sifaka.editor.edit import AppliedEdit, Edited, Tier, apply, edit
from sifaka.editor.parsed_text import protected
from sifaka.editor.report import RULES, Lint, Rule, lint

__all__ = [
    "RULES",
    "AppliedEdit",
    "Edited",
    "Lint",
    "Rule",
    "Tier",
    "apply",
    "edit",
    "lint",
    "protected",
]
