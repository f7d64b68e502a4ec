"""The program in which Harper runs: rules and texts a line in, the findings in each a line out.

It is started by `sifaka.editor.grammar` as a file, so it imports nothing of the library. Harper's
tables take 130 MB for the life of a process; they go with this one, which ends when it is idle.

Rules are names with spaces between, or `all` for those that are not off. Arguments: the rules that
are off, as a JSON list, and the idle seconds.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harper import Lint, Linter

HarperLint = tuple[str, int, int, str, str, str | None]
"""Rule, start, end, message, kind, replacement; no replacement when there is a choice."""


def main(off: Sequence[str], idle_seconds: float) -> None:
    """Answer until standard input ends or stays silent."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a rule that prints must not end up among the answers
    linter, on = _linter(), ""
    while True:
        idle = threading.Timer(idle_seconds, os._exit, (0,))
        idle.daemon = True
        idle.start()
        line = sys.stdin.buffer.readline()
        idle.cancel()
        if not line:
            return
        rules, texts = json.loads(line)
        if rules != on:
            _choose(linter, rules, off)
            on = rules
        json.dump([list(_findings(linter, text)) for text in texts], answers)
        answers.write("\n")
        answers.flush()


def _linter() -> "Linter":
    from harper import Linter

    return Linter()


def _choose(linter: "Linter", rules: str, off: Sequence[str]) -> None:
    config = linter.get_default_lint_config()
    if rules == "all":
        linter.set_lint_config({**config, **dict.fromkeys(config.keys() & set(off), False)})
    else:
        names = frozenset(rules.split())
        linter.set_lint_config({name: name in names for name in config})


def _findings(linter: "Linter", text: str) -> Iterator[HarperLint]:
    for rule, lints in linter.organized_lints(text).items():
        for lint in lints:
            span = lint.span
            yield rule, span.start, span.end, lint.message, lint.lint_kind, _fix(lint)


def _fix(lint: "Lint") -> str | None:
    from harper import SuggestionKind

    if lint.suggestion_count != 1:
        return None
    suggestion = lint.suggestions[0]
    if suggestion.kind == SuggestionKind.INSERT_AFTER:
        return lint.problem_text + suggestion.replacement_text
    return suggestion.replacement_text


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), float(sys.argv[2]))
