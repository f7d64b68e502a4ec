"""The choice among the editor's rules, by their names and those of their groups."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sifaka._internal.suggestions import closest, did_you_mean
from sifaka.editor import ADVISORS, RULES, Rule
from sifaka.errors import ConfigurationError

ALL = "all"
"""The name of every rule together."""
HARPER = "harper"
"""The prefix of the rules of Harper, each `harper.<Name>`; alone it names all of them."""
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "encoding": ("encoding",),
        "repetition": ("repeated_word",),
        "wordiness": ("wordy_phrase", "empty_opener"),
        "articles": ("article",),
        "latin": ("latin",),
        "commas": ("opening_comma",),
        "spacing": ("double_space", "space_before_punctuation", "space_after_comma"),
        "contractions": ("contraction",),
        "confusions": (
            *("its", "your", "their", "then_than", "to_too", "modal_of", "confused_word"),
            *("joined_words", "split_word", "preposition", "wrong_verb", "pronoun"),
            *("comparative", "extra_article"),
        ),
        "agreement": ("agreement",),
        "verb_forms": ("verb_form",),
        "nouns": ("plural", "this_these", "missing_article"),
        "capitals": ("capital",),
        "spelling": ("misspelling",),
        "grammar": (HARPER,),
        "style": ("hedge", "long_sentence"),
    }
)
"""The groups of rules, as the editor calls what finds them, and the rules in each."""
_GROUP_OF: Mapping[str, str] = {rule: group for group, rules in GROUPS.items() for rule in rules}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChoice:
    """The rules that are wanted.

    The more exact name wins: `select` of a rule over `ignore` of its group. Of equally exact ones
    `ignore` wins.
    """

    select: frozenset[str] = frozenset({ALL})
    ignore: frozenset[str] = frozenset()

    @classmethod
    def of(cls, select: Iterable[str], ignore: Iterable[str] = ()) -> "RuleChoice":
        """The choice by names as they were written.

        Raises:
            ConfigurationError: A name is unknown.
        """
        return cls(
            select=frozenset(known_name(name) for name in select),
            ignore=frozenset(known_name(name) for name in ignore),
        )

    def without(self, names: frozenset[str]) -> "RuleChoice":
        """The choice with more rules ignored."""
        return RuleChoice(select=self.select, ignore=self.ignore | names)

    def wants(self, rule: str) -> bool:
        """True when the findings of this rule are wanted."""
        return _exactness(self.select, rule) > _exactness(self.ignore, rule)

    def finders(self) -> Iterator[tuple[str, Rule]]:
        """The groups that hold a wanted rule, each with the function that runs it."""
        named = {name for name in self.select if name.startswith(f"{HARPER}.")}
        for group, finder in {**RULES, **ADVISORS}.items():
            rules = GROUPS.get(group, (group,))
            if any(self.wants(rule) for rule in rules) or (group == "grammar" and named):
                yield group, finder


def known_name(name: str) -> str:
    """The name of a rule or group as this module writes it.

    Raises:
        ConfigurationError: There is none of this name.
    """
    form = name.strip()
    if form.partition(".")[0] == HARPER and "." in form:
        return _known_harper_rule(form)
    form = form.lower().replace("-", "_")
    names = [ALL, *GROUPS, *(rule for rules in GROUPS.values() for rule in rules)]
    if form not in names:
        raise ConfigurationError(f"unknown rule {name!r}", did_you_mean(name, dict.fromkeys(names)))
    return form


def _exactness(names: frozenset[str], rule: str) -> int:
    """How exactly the names tell the rule: 0 not at all, 1 by all, 2 by its group, 3 by itself."""
    if rule in names:
        return 3
    family = rule.partition(".")[0]
    if names & {family, _GROUP_OF.get(family, family)}:
        return 2
    return int(ALL in names)


def _known_harper_rule(name: str) -> str:
    from harper import Linter

    rules = Linter().get_default_lint_config()
    wanted = name.partition(".")[2]
    if wanted not in rules:
        similar = closest(wanted, rules)
        raise ConfigurationError(
            f"unknown rule {name!r}",
            None if similar is None else f"did you mean '{HARPER}.{similar}'?",
        )
    return name
