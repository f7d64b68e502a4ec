"""The editor's rules by name: what each is about, which are wanted in a text, and where in it.

A choice of rules is for a whole text; comments in it switch rules off for some of its lines.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

from sifaka._internal.naming import closest, did_you_mean
from sifaka.editor.encoding import encoding
from sifaka.editor.grammar import DEFAULT as DEFAULT_OF_HARPER
from sifaka.editor.grammar import grammar
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import articles, repetition, spacing
from sifaka.editor.spelling import confusions, spelling
from sifaka.editor.style import kinds, style, worst_habits
from sifaka.editor.style import rules as rules_of_style
from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue
from sifaka.record.rule_choice import DEFAULT, RuleChoice
from sifaka.text import harper
from sifaka.text.tables import table

Rule = Callable[[ParsedText], Iterable[Issue]]
"""Finds one kind of mistake; raises `PluginError` when a tool it needs is missing."""

ALL = "all"
"""The name of every rule together."""
HARPER = "harper"
"""The prefix of the rules of Harper, each `harper.<Name>`; alone it names all of them."""
STYLE = "style"
"""The group of stock prose, which is a matter of taste: it runs where it is named."""
_GRAMMAR = "grammar"
"""The group of Harper's rules; it selects those that are on by default, and ignores all."""


class Group(NamedTuple):
    """Rules that one function runs."""

    rules: tuple[str, ...]
    find: Rule


def _make_group(*names: str) -> Group:
    return Group(names, partial(confusions, rules=names))


GROUPS: Mapping[str, Group] = MappingProxyType(
    {
        "encoding": Group(("encoding",), encoding),
        "repetition": Group(("repeated_word",), repetition),
        "articles": Group(("article",), articles),
        "spacing": Group(("space_before_punctuation",), spacing),
        "contractions": _make_group("contraction"),
        "confusions": _make_group(
            *("its", "your", "their", "then_than", "to_too", "modal_of", "confused_word"),
            *("joined_words", "split_word", "preposition", "wrong_verb", "pronoun"),
            *("comparative", "extra_article", "plural"),
        ),
        "capitals": _make_group("capital"),
        "spelling": Group(("misspelling",), spelling),
        _GRAMMAR: Group((HARPER,), grammar),
        STYLE: Group((STYLE,), style),
    }
)
"""The groups of rules; where findings of two want the same place the earlier one gets it."""
BY_DEFAULT: Mapping[str, Rule] = {
    name: group.find for name, group in GROUPS.items() if name != STYLE
}
"""What runs without a choice: see `finders`."""
_GROUP_OF = {rule: name for name, group in GROUPS.items() for rule in group.rules}


# --- which rules ---


def rule_choice(
    select: Iterable[str] = (DEFAULT,), ignore: Iterable[str] = (), words: Iterable[str] = ()
) -> RuleChoice:
    """The choice by names as they were written.

    Raises:
        ConfigurationError: A name is unknown.
    """
    return RuleChoice(
        select=frozenset(map(known_name, select)),
        ignore=frozenset(map(known_name, ignore)),
        words=frozenset(word.strip().lower() for word in words),
    )


def known_name(name: str) -> str:
    """The name of a rule or group as this module writes it.

    Raises:
        ConfigurationError: There is none of this name.
    """
    form = name.strip()
    if form.startswith(f"{HARPER}."):
        return _check_harper_rule(form)
    form = form.lower().replace("-", "_")
    names = dict.fromkeys([ALL, DEFAULT, *GROUPS, *_list_styles(), *_GROUP_OF])
    if form not in names:
        similar = closest(form, names)
        raise ConfigurationError(
            f"unknown rule {name!r}",
            did_you_mean(name, (ALL, DEFAULT, *GROUPS)) if similar is None else _hint(similar),
        )
    return form


def _check_harper_rule(name: str) -> str:
    wanted = name.partition(".")[2]
    if wanted not in DEFAULT_OF_HARPER and wanted not in _load_harper_rules():
        similar = closest(wanted, _load_harper_rules())
        raise ConfigurationError(f"unknown rule {name!r}", similar and _hint(f"{HARPER}.{similar}"))
    return name


def _hint(name: str) -> str:
    return f"did you mean {name!r}?"


def _list_styles() -> list[str]:
    return [f"{STYLE}.{kind}" for kind in kinds()]


@cache
def _load_harper_rules() -> Mapping[str, object]:
    from harper import Linter

    return Linter().get_default_lint_config()


def wants(choice: RuleChoice, rule: str) -> bool:
    """True when the findings of this rule are wanted."""
    family, _, name = rule.partition(".")
    selected = choice.select
    if family == HARPER and name not in DEFAULT_OF_HARPER:
        selected -= {DEFAULT, _GRAMMAR}
    if family == STYLE:
        selected -= {DEFAULT}
    return _exactness(selected, rule) > _exactness(choice.ignore, rule)


def _exactness(names: frozenset[str], rule: str) -> int:
    """How exactly the names name the rule: 0 not at all, 1 by all, 2 by its group, 3 by itself."""
    family = rule.partition(".")[0]
    levels = ({rule}, {family, _GROUP_OF.get(family, family)}, {ALL, DEFAULT})
    return next((3 - n for n, level in enumerate(levels) if names & level), 0)


def finders(choice: RuleChoice) -> Mapping[str, Rule]:
    """The groups that hold a wanted rule, each with the function that runs it.

    The same choice has the same functions.
    """
    return _choose_finders(choice.select, choice.ignore)


@lru_cache(maxsize=16)
def _choose_finders(select: frozenset[str], ignore: frozenset[str]) -> Mapping[str, Rule]:
    choice = RuleChoice(select=select, ignore=ignore)
    chosen: dict[str, Rule] = {}
    for name, (rules, find) in GROUPS.items():
        if name == _GRAMMAR:
            if rules_of_harper := _choose_of_harper(choice):
                chosen[name] = partial(grammar, rules=rules_of_harper)
        elif any(wants(choice, rule) for rule in (_list_styles() if name == STYLE else rules)):
            chosen[name] = find
    return chosen


def _choose_of_harper(choice: RuleChoice) -> frozenset[str]:
    """The rules that Harper is to run; empty when none is wanted."""
    if wants(choice, f"{HARPER}.any"):
        return harper.ALL
    named = {name.partition(".")[2] for name in choice.select if name.startswith(f"{HARPER}.")}
    return frozenset(
        name for name in DEFAULT_OF_HARPER | named if wants(choice, f"{HARPER}.{name}")
    )


# --- what each is about ---


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
    """The same text, corrected; empty where only its writer can."""


def explanations(name: str) -> Sequence[Explanation]:
    """What the rule of a name is about, or each rule of a group.

    Raises:
        ConfigurationError: There is neither of this name.
    """
    name = known_name(name)
    if name.startswith(f"{HARPER}."):
        return _explain_harper([name.removeprefix(f"{HARPER}.")])
    choice = RuleChoice(select=frozenset({name}))
    entries = (each for group in finders(choice) for each in _explain_group(group))
    return [each for each in entries if wants(choice, each.rule)]


def _explain_group(group: str) -> Sequence[Explanation]:
    if group == STYLE:
        return [_explain_style(kind) for kind in kinds()]
    if group == _GRAMMAR:
        return _explain_harper(sorted(DEFAULT_OF_HARPER))
    texts = table(__file__, "explanations")
    return [Explanation(rule=rule, group=group, **texts[rule]) for rule in GROUPS[group].rules]


def _explain_style(kind: str) -> Explanation:
    texts = (text for rule in rules_of_style() if rule.kind == kind for text in rule.found)
    what = f"Stock prose: {kinds()[kind].why}. {kinds()[kind].advice}"
    return Explanation(rule=f"{STYLE}.{kind}", group=STYLE, what=what, wrong=next(texts, ""))


def _explain_harper(names: Sequence[str]) -> Sequence[Explanation]:
    from harper import Linter

    docs = Linter().get_lint_descriptions()
    return [Explanation(rule=f"{HARPER}.{name}", group=_GRAMMAR, what=docs[name]) for name in names]


# --- where in a text ---

SIGN = "sifaka:"
"""A text without it has no comments that switch rules off."""
_COMMENT = re.compile(
    r"(?P<open><!--|\{/\*|\{#|^[ \t]*\.\.|(?<!\S)(?://|%+|\#))[ \t]*sifaka:[ \t]*"
    r"(?P<word>ignore|off|on)\b[ \t]*(?P<names>[\w., \t-]*?)[ \t]*(?:-->|\*/\}|\#\}|$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RuleException:
    """A part of a text in which some rules are off."""

    start: int
    end: int
    rules: frozenset[str]


def exceptions(text: str) -> tuple[list[RuleException], list[str]]:
    """What the comments of a text switch off, and a line about each that names an unknown rule.

    `sifaka: ignore RULES` holds for its line, and for the next one with words when it stands alone;
    `sifaka: off RULES` until `sifaka: on` or the end. Without rules it is about all of them.
    """
    off: list[RuleException] = []
    wrong: list[str] = []
    began: tuple[int, frozenset[str]] | None = None
    line, at = 1, 0
    for match in _COMMENT.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        start = text.rfind("\n", 0, at) + 1
        try:
            names = frozenset(map(known_name, re.findall(r"[\w.-]+", match["names"])))
        except ConfigurationError as error:
            wrong.append(f"line {line}: {error}")
            continue
        if match["word"] == "ignore":
            off.append(RuleException(start, _reach(text, match, start), names or frozenset({ALL})))
            continue
        if began:
            off.append(RuleException(began[0], _find_line_end(text, match.end()), began[1]))
        began = (start, names or frozenset({ALL})) if match["word"] == "off" else None
    if began:
        off.append(RuleException(began[0], len(text) + 1, began[1]))
    return off, wrong


def _reach(text: str, match: re.Match[str], start: int) -> int:
    """Where the part ends that a comment in the line from `start` on holds for."""
    end = _find_line_end(text, match.end())
    if text[start : match.start()].strip() or text[match.end() : end].strip():
        return end
    blank = re.compile(r"\s*").match(text, end)
    return _find_line_end(text, blank.end()) if blank else end


def _find_line_end(text: str, offset: int) -> int:
    """The offset of the next line end, or that of the end of the text."""
    return end if (end := text.find("\n", offset)) >= 0 else len(text)


def wanted(found: Iterable[Issue], text: str, choice: RuleChoice) -> tuple[list[Issue], list[str]]:
    """The findings that are wanted, in text order, and a line about each comment that is wrong."""
    kept = [
        issue
        for issue in found
        if wants(choice, issue.rule or issue.category)
        and not (issue.category == "spelling" and issue.quote.lower() in choice.words)
    ]
    kept.sort(key=lambda issue: (issue.start or 0, issue.end or 0))
    off, wrong = exceptions(text)
    return (list(_drop_excepted(off, kept)) if off else kept), wrong


def stock_prose(
    parsed: ParsedText, most: int, choice: RuleChoice | None = None
) -> tuple[tuple[Issue, ...], float | None]:
    """The worst habits, as `sifaka.editor.style` finds them, that are not switched off.

    A choice that ignores all of `style` is about checks that did not ask for it.
    """
    ignored = (choice or RuleChoice()).ignore - {STYLE, ALL, DEFAULT}
    if not ignored and SIGN not in parsed.text:
        return worst_habits(parsed, most)
    of_style = RuleChoice(select=frozenset({STYLE}), ignore=ignored)
    kept, _ = wanted(style(parsed), parsed.text, of_style)
    return worst_habits(parsed, most, {(issue.rule, issue.start) for issue in kept})


def _drop_excepted(off: Iterable[RuleException], issues: Iterable[Issue]) -> Iterator[Issue]:
    """The findings, in text order, that no exception covers."""
    ahead = deque(sorted(off, key=lambda part: part.start))
    reached: list[RuleException] = []
    for issue in issues:
        start = issue.start or 0
        while ahead and ahead[0].start <= start:
            reached.append(ahead.popleft())
        reached = [part for part in reached if start <= part.end]
        if not any(_exactness(part.rules, issue.rule or issue.category) for part in reached):
            yield issue
