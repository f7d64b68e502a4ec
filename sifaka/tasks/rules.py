"""The choice among the editor's rules: by name, by group, and by comments in a text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType

from sifaka._internal.naming import closest, did_you_mean
from sifaka.editor import RULES, Rule
from sifaka.editor.grammar import DEFAULT as DEFAULT_OF_HARPER
from sifaka.editor.grammar import asked, grammar
from sifaka.editor.style import kinds, style
from sifaka.errors import ConfigurationError
from sifaka.text import harper

ALL = "all"
"""The name of every rule together."""
DEFAULT = "default"
"""The name of all rules but style and those of Harper that are off by default."""
HARPER = "harper"
"""The prefix of the rules of Harper, each `harper.<Name>`; alone it names all of them."""
STYLE = "style"
"""The group of stock prose, which is a matter of taste: it runs where it is named."""
_GRAMMAR = "grammar"
"""The group of Harper's rules; it selects those that are on by default, and ignores all."""
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "encoding": ("encoding",),
        "repetition": ("repeated_word",),
        "articles": ("article",),
        "spacing": ("double_space", "space_before_punctuation", "space_after_comma"),
        "contractions": ("contraction",),
        "confusions": (
            *("its", "your", "their", "then_than", "to_too", "modal_of", "confused_word"),
            *("joined_words", "split_word", "preposition", "wrong_verb", "pronoun"),
            *("comparative", "extra_article"),
        ),
        "nouns": ("plural", "this_these", "missing_article"),
        "capitals": ("capital",),
        "spelling": ("misspelling",),
        _GRAMMAR: (HARPER,),
        STYLE: (STYLE,),
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

    select: frozenset[str] = frozenset({DEFAULT})
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
        family, _, name = rule.partition(".")
        selected = self.select
        if family == HARPER and name not in DEFAULT_OF_HARPER:
            selected -= {DEFAULT, _GRAMMAR}
        if family == STYLE:
            selected -= {DEFAULT}
        return _exactness(selected, rule) > _exactness(self.ignore, rule)

    def finders(self) -> Iterator[tuple[str, Rule]]:
        """The groups that hold a wanted rule, each with the function that runs it."""
        for group, finder in RULES.items():
            if group == _GRAMMAR:
                if asked := self._asked_of_harper():
                    yield group, partial(grammar, rules=asked)
            elif any(self.wants(rule) for rule in GROUPS.get(group, (group,))):
                yield group, finder
        if any(self.wants(f"{STYLE}.{kind}") for kind in kinds()):
            yield STYLE, style

    def _asked_of_harper(self) -> str:
        """The rules that Harper is to run; empty when none is wanted."""
        if self.wants(f"{HARPER}.any"):
            return harper.ALL
        named = {name.partition(".")[2] for name in self.select if name.startswith(f"{HARPER}.")}
        names = DEFAULT_OF_HARPER | named
        return asked(name for name in names if self.wants(f"{HARPER}.{name}"))


def known_name(name: str) -> str:
    """The name of a rule or group as this module writes it.

    Raises:
        ConfigurationError: There is none of this name.
    """
    form = name.strip()
    if form.partition(".")[0] == HARPER and "." in form:
        return _known_harper_rule(form)
    form = form.lower().replace("-", "_")
    of_style = [f"{STYLE}.{kind}" for kind in kinds()]
    names = [
        ALL,
        DEFAULT,
        *GROUPS,
        *of_style,
        *(rule for rules in GROUPS.values() for rule in rules),
    ]
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
    return int(bool(names & {ALL, DEFAULT}))


def _known_harper_rule(name: str) -> str:
    wanted = name.partition(".")[2]
    if wanted not in DEFAULT_OF_HARPER and wanted not in _all_of_harper():
        similar = closest(wanted, _all_of_harper())
        raise ConfigurationError(
            f"unknown rule {name!r}",
            None if similar is None else f"did you mean '{HARPER}.{similar}'?",
        )
    return name


@cache
def _all_of_harper() -> Mapping[str, object]:
    from harper import Linter

    return Linter().get_default_lint_config()


_COMMENT = re.compile(
    r"(?P<open><!--|\{/\*|\{#|^[ \t]*(?:\.\.|//|%+|\#))[ \t]*sifaka:[ \t]*"
    r"(?P<word>ignore|off|on)\b[ \t]*(?P<names>[\w., \t-]*?)[ \t]*(?:-->|\*/\}|\#\}|$)",
    re.MULTILINE,
)
_LAST = 1 << 60


@dataclass(frozen=True, slots=True)
class RuleException:
    """The lines in which some rules are off."""

    first: int
    last: int
    rules: frozenset[str]

    def covers(self, line: int, rule: str) -> bool:
        """True when the findings of a rule in this line are not wanted."""
        return self.first <= line <= self.last and _exactness(self.rules, rule) > 0


def exceptions(text: str) -> Iterator[RuleException | str]:
    """What the comments of a text switch off, and a line about each that names an unknown rule.

    `sifaka: ignore RULES` holds for its line, and for the next one with words when it stands alone;
    `sifaka: off RULES` until `sifaka: on` or the end. Without rules all of them are meant.
    """
    if "sifaka:" not in text:
        return
    began: tuple[int, frozenset[str]] | None = None
    line, at = 1, 0
    for match in _COMMENT.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        try:
            names = frozenset(known_name(name) for name in re.findall(r"[\w.-]+", match["names"]))
        except ConfigurationError as error:
            yield f"line {line}: {error}"
            continue
        if match["word"] == "ignore":
            yield RuleException(line, _reach(text, match, line), names or frozenset({ALL}))
            continue
        if began:
            yield RuleException(began[0], line, began[1])
        began = (line, names or frozenset({ALL})) if match["word"] == "off" else None
    if began:
        yield RuleException(began[0], _LAST, began[1])


def _reach(text: str, match: re.Match[str], line: int) -> int:
    """The last line that a comment holds for."""
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    rest = text[match.end() : end] if end >= 0 else text[match.end() :]
    if text[start : match.start()].strip() or rest.strip():
        return line
    blank = re.compile(r"\s*").match(text, match.end())
    return line + (text.count("\n", match.end(), blank.end()) if blank else 0)
