"""What each rule finds, with a sentence that has the mistake and the same one without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sifaka.editor.grammar import DEFAULT as DEFAULT_OF_HARPER
from sifaka.editor.rules import ALL, GROUPS, HARPER, STYLE, known_name
from sifaka.editor.style import kinds
from sifaka.editor.style import rules as rules_of_style
from sifaka.record.rule_choice import DEFAULT
from sifaka.text.tables import table


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What one rule is about."""

    rule: str
    group: str
    what: str
    """What it finds, in a sentence or two."""
    wrong: str = ""
    """A text in which it finds something; empty for rules of Harper."""
    right: str = ""
    """The same text, mended; empty where only its writer can."""


def explanations(name: str) -> Sequence[Explanation]:
    """What the rule of a name is about, or each rule of a group.

    Raises:
        ConfigurationError: There is neither of this name.
    """
    name = known_name(name)
    if name.startswith(f"{HARPER}."):
        return _of_harper([name.removeprefix(f"{HARPER}.")])
    return [
        each
        for group, (rules, _) in GROUPS.items()
        for each in _of_group(group, rules)
        if name in {each.rule, group, ALL} or (name == DEFAULT and group != STYLE)
    ]


def _of_group(group: str, rules: Sequence[str]) -> Sequence[Explanation]:
    if group == STYLE:
        return [_of_style(kind) for kind in kinds()]
    if HARPER in rules:
        return _of_harper(sorted(DEFAULT_OF_HARPER))
    told = table(__file__, "explanations")
    return [Explanation(rule=rule, group=group, **told[rule]) for rule in rules]


def _of_style(kind: str) -> Explanation:
    texts = (text for rule in rules_of_style() if rule.kind == kind for text in rule.found)
    what = f"Stock prose: {kinds()[kind].why}. {kinds()[kind].advice}"
    return Explanation(rule=f"{STYLE}.{kind}", group=STYLE, what=what, wrong=next(texts, ""))


def _of_harper(names: Sequence[str]) -> Sequence[Explanation]:
    from harper import Linter

    told = Linter().get_lint_descriptions()
    return [
        Explanation(rule=f"{HARPER}.{name}", group="grammar", what=told[name]) for name in names
    ]
