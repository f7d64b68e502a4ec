"""Harper's findings in texts, as the worker process that holds Harper finds them.

It is imported there without the editor, which takes a process longer to import than this.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harper import Lint, Linter

HarperLint = tuple[str, int, int, str, str, str | None]
"""Rule, start, end, message, kind, replacement; no replacement when there is a choice."""
ALL = frozenset({"all"})
"""In place of names: every rule that Harper itself has on, but for those that are off."""


def lint_texts(
    texts: Sequence[str], rules: frozenset[str], off: frozenset[str], language: str
) -> list[list[HarperLint]]:
    """The findings in each of some texts.

    Args:
        texts: The texts.
        rules: The names of the rules, or `ALL`.
        off: The rules that `ALL` leaves out.
        language: What Harper calls the format of the texts.
    """
    linter = _set_rules(rules, off)
    return [list(_find_lints(linter, text, language)) for text in texts]


@cache
def _make_linter() -> "Linter":
    from harper import Linter

    return Linter()


@lru_cache(maxsize=1)
def _set_rules(rules: frozenset[str], off: frozenset[str]) -> "Linter":
    """The one linter, with other rules than the last time."""
    linter = _make_linter()
    config = linter.get_default_lint_config()
    linter.set_lint_config(
        {
            name: is_on and name not in off if rules == ALL else name in rules
            for name, is_on in config.items()
        }
    )
    return linter


def _find_lints(linter: "Linter", text: str, language: str) -> Iterator[HarperLint]:
    for rule, lints in linter.organized_lints(text, language=language).items():
        for lint in lints:
            span = lint.span
            yield rule, span.start, span.end, lint.message, lint.lint_kind, _read_fix(lint)


def _read_fix(lint: "Lint") -> str | None:
    from harper import SuggestionKind

    if lint.suggestion_count != 1:
        return None
    suggestion = lint.suggestions[0]
    before = lint.problem_text if suggestion.kind == SuggestionKind.INSERT_AFTER else ""
    return before + suggestion.replacement_text
