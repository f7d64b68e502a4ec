"""Grammar by Harper: suggestions, but for the few rules that were never seen to be wrong."""

import atexit
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Timer

from sifaka.editor.harper_process import HarperLint
from sifaka.editor.lexicon import lexicon
from sifaka.editor.parsed_text import ParsedText
from sifaka.errors import PluginError
from sifaka.record.results import Issue

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
    # Wrong in most of what they report about 1.6 million words of clean documents.
    "InflectedVerbAfterTo MissingTo ModalBeAdjective NominalWants NounVerbConfusion",
    "PronounInflectionBe QuiteQuiet RedundantThat SingleBe ThatThan ToTwoToo TransposedSpace",
)
_SAFE = frozenset({"AdjectiveDoubleDegree", "ModalOf", "ThenThan", "ThereToTheir"})
"""At least five findings each, in labelled sentences and clean documents, and none was wrong."""

LIMIT = 200_000
"""Characters beyond which grammar is not checked."""

# Paragraphs together; a very long one in pieces, for Harper's time grows faster than the text.
_PART = re.compile(r".{1,4000}(?:\n[ \t]*\n|\Z)|.{1,4000}[.!?]\s|.{1,4000}\s|.{1,4000}", re.DOTALL)
_IDLE_SECONDS = 30.0
_PROGRAM = (
    str(Path(__file__).with_name("harper_process.py")),
    json.dumps(sorted(_OFF)),
    str(_IDLE_SECONDS),
)
"""Harper's process, and its arguments."""
_MOST_SECONDS = 120.0
"""Seconds for one text; the slowest of the longest texts took 17."""


def grammar(parsed: ParsedText) -> Iterator[Issue]:
    """Harper's findings outside the reserved parts.

    Raises:
        PluginError: Harper is not installed, it failed, or the text is too long for it.
    """
    if len(parsed.text) > LIMIT:
        raise PluginError(f"grammar: not checked, the text has more than {LIMIT:,} characters")
    for rule, start, end, message, kind, fix in _lints(parsed.prose):
        if kind in _IGNORED_KINDS or rule.startswith("Expand") or not parsed.free(start, end):
            continue
        message = message.replace("`", '"')
        category = _CATEGORIES.get(kind, "grammar")
        name = f"harper.{rule}"
        if rule in _SAFE and fix is not None:
            yield parsed.safe(start, end, fix, message, rule=name, category=category)
        else:
            yield parsed.suggestion(start, end, message, rule=name, category=category, fix=fix)


def _lints(text: str) -> Iterator[HarperLint]:
    for match in _PART.finditer(text):
        for rule, start, end, message, kind, fix in _lints_of_part(match.group()):
            yield rule, match.start() + start, match.start() + end, message, kind, fix


@lru_cache(maxsize=100)
def _lints_of_part(text: str) -> Sequence[HarperLint]:
    """The findings in one part; after an edit only the parts that it changed are read again."""
    return shared_harper().lint(text)


@dataclass(slots=True, eq=False)
class Harper:
    """Harper in a process of its own, asked by one thread at a time.

    The process ends after `_IDLE_SECONDS`, and the next text starts another one.
    """

    _lock: Lock = field(default_factory=Lock, init=False)
    _process: Popen[str] | None = field(default=None, init=False)

    @property
    def pid(self) -> int | None:
        """The process that was started last; None when it was closed."""
        return None if self._process is None else self._process.pid

    def lint(self, text: str) -> list[HarperLint]:
        """The findings of all rules that are not off.

        Raises:
            PluginError: Harper is not installed, it crashed, or it took too long.
        """
        question = json.dumps(text) + "\n"
        with self._lock:
            answer = self._answer(question) if self._process else ""
            if not answer:  # none is running, or the one that was has ended
                if self._process is not None:
                    self.close()
                if find_spec("harper") is None:
                    raise PluginError(
                        "grammar: `harper-py` is not installed", "pip install harper-py"
                    )
                self._process = Popen(  # noqa: S603 - a fixed command; the text goes through stdin
                    [sys.executable, "-I", *_PROGRAM],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=DEVNULL,
                    encoding="utf-8",
                    start_new_session=True,  # Ctrl-C is for the command, which ends this
                )
                answer = self._answer(question)
        if not answer:
            raise PluginError("grammar: Harper crashed on the text, or took too long")
        return json.loads(answer)

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _answer(self, question: str) -> str:
        """The line that the process answers; empty when it has ended."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        limit = Timer(_MOST_SECONDS, process.kill)
        limit.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            return process.stdout.readline()
        except OSError:
            return ""
        finally:
            limit.cancel()


@cache
def shared_harper() -> Harper:
    """The one that all rules of this process ask."""
    harper = Harper()
    atexit.register(harper.close)
    return harper


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_harper.cache_clear)
