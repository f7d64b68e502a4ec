"""Grammar by Harper: suggestions only, never applied."""

from collections.abc import Iterator, Mapping
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from sifaka.editor.lexicon import lexicon
from sifaka.editor.passage import Passage
from sifaka.errors import PluginError
from sifaka.record.results import Issue

if TYPE_CHECKING:
    import harper

_CATEGORIES: Mapping[str, str] = {
    "Spelling": "spelling",
    "Typo": "spelling",
    "Repetition": "repetition",
    "Punctuation": "punctuation",
    "Formatting": "spacing",
    "Redundancy": "wordiness",
    "Enhancement": "wordiness",
    "Readability": "wordiness",
    "Style": "wordiness",
}
_IGNORED_KINDS = lexicon(
    "Spelling Capitalization Formatting Readability Enhancement Regionalism BoundaryError",
)
_OFF = lexicon(
    # Prints to standard output.
    "LookingForwardTo",
    # Found by the editor's own rules, more carefully.
    "SpellCheck LongSentences RepeatedWords AnA DiscourseMarkers Spaces",
    # Wrong or a matter of house style in most of what they report about technical texts.
    "SplitWords MergeWords PhrasalVerbAsCompoundNoun OxfordComma CommaFixes There CondenseAllThe",
    "CompoundNouns MissingDeterminer MissingPreposition WrongNegative MassNouns FindOut Codebase",
    "UseEllipsisCharacter EllipsisLength NumericRangeEnDash Dashes NoFrenchSpaces UnclosedQuotes",
    "QuoteSpacing SentenceCapitalization AllowTo",
)
_CERTAIN = frozenset({"ModalOf"})


def grammar(passage: Passage) -> Iterator[Issue]:
    """Harper's findings outside the reserved parts.

    Raises:
        PluginError: `harper-py` is not installed.
    """
    for rule, start, end, message, kind, fix in _harper().lint(passage.text):
        if not passage.free(start, end):
            continue
        yield passage.suggestion(
            start,
            end,
            message,
            rule=f"harper.{rule}",
            category=_CATEGORIES.get(kind, "grammar"),
            fix=fix,
            severity=3 if rule in _CERTAIN else 2,
        )


Finding = tuple[str, int, int, str, str, str | None]
"""Rule, start, end, message, kind, replacement."""


class _Harper:
    """One linter, used by one thread at a time: a second call on it would raise."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._linter: harper.Linter | None = None

    def lint(self, text: str) -> list[Finding]:
        with self._lock:
            if self._linter is None:
                self._linter = _new_linter()
            found = self._linter.organized_lints(text)
        return [
            (
                rule,
                lint.span.start,
                lint.span.end,
                lint.message.replace("`", '"'),
                lint.lint_kind,
                _fix(lint),
            )
            for rule, lints in found.items()
            for lint in lints
            if lint.lint_kind not in _IGNORED_KINDS and not rule.startswith("Expand")
        ]


@cache
def _harper() -> _Harper:
    return _Harper()


def _new_linter() -> "harper.Linter":
    try:
        from harper import Linter
    except ImportError as error:
        raise PluginError(
            "grammar: `harper-py` is not installed", "pip install harper-py"
        ) from error
    linter = Linter()
    off = dict.fromkeys(_OFF & linter.get_default_lint_config().keys(), False)
    linter.set_lint_config({**linter.get_default_lint_config(), **off})
    return linter


def _fix(lint: "harper.Lint") -> str | None:
    """The replacement for the lint's span; None when there is a choice."""
    from harper import SuggestionKind

    if lint.suggestion_count != 1:
        return None
    suggestion = lint.suggestions[0]
    if suggestion.kind == SuggestionKind.INSERT_AFTER:
        return lint.problem_text + suggestion.replacement_text
    return suggestion.replacement_text
