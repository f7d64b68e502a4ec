"""Checking a text for mistakes as a linter does, by chosen rules and without any model."""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import PurePath
from types import MappingProxyType

from sifaka._internal.naming import closest, did_you_mean
from sifaka.editor import RULES, AppliedEdit, Rule, Tier, lint
from sifaka.editor.edit import settle
from sifaka.editor.grammar import DEFAULT as DEFAULT_OF_HARPER
from sifaka.editor.grammar import asked, grammar
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.style import kinds, style, worst_habits
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Fixes
from sifaka.record.results import Issue
from sifaka.text import harper
from sifaka.text.formats import UNCHECKED, Format, recognise
from sifaka.text.input import check_text

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


_TIERS: Mapping[Fixes, tuple[Tier, ...]] = {
    "none": (),
    "safe": ("safe",),
    "suggested": ("safe", "suggested"),
}
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding, and its place as editors count: lines and columns from 1, in characters."""

    rule: str
    message: str
    category: str
    severity: int
    """1 is a matter of taste, 5 makes the text unusable."""
    start: int
    """Offset of the first character, from 0."""
    end: int
    """Offset after the last one."""
    line: int
    column: int
    end_line: int
    end_column: int
    """The column after the last character."""
    quote: str
    fix: str | None
    """What to put in the place; None when no rule knows."""
    safe: bool
    """True when the fix is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """What is wrong with a text, after the fixes that were asked for."""

    text: str
    """The text with its fixes."""
    diagnostics: tuple[Diagnostic, ...]
    """What is left in it, in text order."""
    edits: tuple[AppliedEdit, ...] = ()
    """The fixes that were made; the offsets of later rounds are those of the text before them."""
    degraded: tuple[str, ...] = ()
    """One line for each check that could not run, because a tool is missing or has failed."""
    skipped: tuple[str, ...] = ()
    """One line for each check that was left out for this text, such as for its language."""


def check(
    text: str,
    rules: RuleChoice | None = None,
    *,
    format: Format | None = None,
    path: str | PurePath | None = None,
    words: frozenset[str] = frozenset(),
    fixes: Fixes = "none",
    min_style: int = 0,
) -> CheckedText:
    """Find the mistakes in a text, and fix those that are to be fixed.

    Args:
        text: The text.
        rules: The rules that are wanted; all when None.
        format: Its format; recognised by its path and its look when None.
        path: The name of its file.
        words: Accepted words in small letters: no misspelling of them is reported.
        fixes: The fixes to make.
        min_style: The least score of the critic `style`, 0 to 100; a lower one is a finding.

    Raises:
        ConfigurationError: The text is too long, or contains NUL or half of a surrogate pair, or is
            of a format that is not checked.
    """
    check_text(text)
    format = format or recognise(text, path)
    if format in UNCHECKED:
        raise ConfigurationError(f"{UNCHECKED[format]}; --as text checks it as plain text")
    look = partial(
        _look, rules=rules or RuleChoice(), words=words, format=format, min_style=min_style
    )
    report = look(text)
    for tier in _TIERS[fixes]:
        rounds = settle(report.text, lambda text: _issues(look(text)), tier, format)
        if rounds:
            made = tuple(edit for each in rounds for edit in each.edits)
            report = replace(look(rounds[-1].text), edits=report.edits + made)
    return report


def _look(
    text: str, *, rules: RuleChoice, words: frozenset[str], format: Format, min_style: int
) -> CheckedText:
    found = lint(text, format=format, rules=dict(rules.finders()))
    kept = [i for i in found.issues if rules.wants(i.rule or i.category) and not _accepts(words, i)]
    score = worst_habits(ParsedText.read(text, format), 0)[1] if min_style else None
    if score is not None and 100 * score < min_style:
        message = f"stock prose: {100 * score:.0f} of 100, at least {min_style}"
        kept.insert(0, Issue.at(text, 0, 0, message, category="style", rule="style.score"))
    told = list(exceptions(text))
    off = sorted(
        (each for each in told if isinstance(each, RuleException)), key=attrgetter("first")
    )
    skipped = [each for each in told if isinstance(each, str)]
    if min_style and score is None:
        skipped.append("style: no score, there are too few words in English")
    return CheckedText(
        text=text,
        diagnostics=tuple(_without(off, _diagnostics(text, kept))),
        degraded=found.failed,
        skipped=(*skipped, *(line for line in found.degraded if line not in found.failed)),
    )


def _without(off: Sequence[RuleException], found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings, in text order, that no exception covers; those come by their first lines."""
    waiting = deque(off)
    reached: list[RuleException] = []
    for each in found:
        while waiting and waiting[0].first <= each.line:
            reached.append(waiting.popleft())
        reached = [one for one in reached if one.last >= each.line]
        if not any(one.covers(each.line, each.rule) for one in reached):
            yield each


def _accepts(words: frozenset[str], issue: Issue) -> bool:
    return issue.category == "spelling" and issue.quote.lower() in words


def _issues(report: CheckedText) -> Iterator[Issue]:
    for found in report.diagnostics:
        yield Issue.at(
            report.text,
            found.start,
            found.end,
            found.message,
            rule=found.rule,
            category=found.category,
            fix=found.fix,
            safe=found.safe,
        )


def _diagnostics(text: str, issues: Iterable[Issue]) -> Iterator[Diagnostic]:
    lines = LineTable(text)
    for issue in issues:
        start, end = issue.start or 0, issue.end or 0
        line, column = lines.place(start)
        end_line, end_column = lines.place(end)
        yield Diagnostic(
            rule=issue.rule or issue.category,
            message=issue.message,
            category=issue.category,
            severity=issue.severity,
            start=start,
            end=end,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            quote=issue.quote,
            fix=issue.fix,
            safe=issue.safe,
        )


@dataclass(frozen=True)
class LineTable:
    """The lines of a text, whatever line ends it has."""

    text: str

    @cached_property
    def _starts(self) -> Sequence[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
