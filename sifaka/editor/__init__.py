"""The rule-based editor: finds what is wrong with a text and fixes what is certain.

`lint` reports, `apply` makes the safe fixes of a report, `edit` repeats both until nothing is left
to do. `GROUPS` is the catalogue of what it looks for, `rule_choice` chooses among it.
"""

from sifaka.editor.edit import AppliedEdit, Edited, Tier, apply, edit
from sifaka.editor.parsed_text import protected
from sifaka.editor.report import Lint, lint
from sifaka.editor.rules import GROUPS, Rule, rule_choice
from sifaka.record.rule_choice import RuleChoice

__all__ = [
    "GROUPS",
    "AppliedEdit",
    "Edited",
    "Lint",
    "Rule",
    "RuleChoice",
    "Tier",
    "apply",
    "edit",
    "lint",
    "protected",
    "rule_choice",
]
