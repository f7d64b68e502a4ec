"""Grammar by Harper: suggestions.

Harper takes most of its time to read a sentence, whatever rules are on. So each rule that is on by
default has its signs, words without which it finds little, and only sentences with signs are read.
"""

import atexit
import os
import pickle
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import accumulate
from threading import Lock, Timer
from typing import TYPE_CHECKING

from sifaka.editor.parsed_text import ParsedText
from sifaka.errors import PluginError
from sifaka.record.results import Issue
from sifaka.text.harper import ALL, HarperLint, lint_texts
from sifaka.text.prose import blanked, word_places
from sifaka.text.tables import patterns_of, table, words_of

if TYPE_CHECKING:
    from sifaka.isolation import WorkerProcess

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
_IGNORED_KINDS = frozenset(
    [
        "Spelling",
        "Capitalization",
        "Formatting",
        "Readability",
        "Enhancement",
        "Regionalism",
        "BoundaryError",
    ]
)
_SIGNED = [line.partition("|") for line in table(__file__, "harper")["signs"].splitlines()]
"""The names of rules, and their signs, as `harper.toml` explains."""
DEFAULT = frozenset(name for names, _, _ in _SIGNED for name in names.split())
"""The rules with evidence: each finds a mistake in `benchmarks/quality/editor`, and few of their
findings in clean documents are wrong."""

OFF = frozenset[str]().union(*words_of(__file__, "harper").values())
"""The rules that run only where they are named one by one."""
_PATTERNS = patterns_of(__file__, "grammar")
_FIXES = patterns_of(__file__, "fixes")
"""The only fixes of some rules of Harper that are proposed."""
LIMIT = 200_000
"""Characters beyond which grammar is not checked."""

_MEMORY = 500
"""Parts whose findings are kept."""
_IDLE_SECONDS = 30.0
_find_spec = cache(find_spec)
_MOST_SECONDS = 40.0
"""Seconds for one text; the slowest of the longest texts took 17."""


def grammar(parsed: ParsedText, rules: frozenset[str] = DEFAULT) -> Sequence[Issue]:
    """Harper's findings outside the reserved parts.

    Args:
        parsed: The text.
        rules: Harper's rules that are wanted, or `ALL`.

    Raises:
        PluginError: Harper is not installed, it failed, or the text is too long for it.
    """
    if len(parsed.text) > LIMIT:
        raise PluginError(f"grammar: not checked, the text has more than {LIMIT:,} characters")
    return grammar_of([parsed], rules)[0]


def grammar_of(texts: Sequence[ParsedText], rules: frozenset[str]) -> Sequence[Sequence[Issue]]:
    """Harper's findings in each of some texts: to ask for all at once is quicker by far.

    Raises:
        PluginError: Harper is not installed, or it failed.
    """
    if _find_spec("harper") is None:
        raise PluginError("grammar: `harper-py` is not installed", "pip install harper-py")
    parts = [list(stretches(parsed, rules)) for parsed in texts]
    asked_for = [part for listed in parts for _, part in listed]
    lints = iter(shared_harper().lint(asked_for, rules) if asked_for else ())
    issues: list[list[Issue]] = [[] for _ in texts]
    for parsed, listed, own in zip(texts, parts, issues, strict=True):
        for offset, _ in listed:
            for rule, first, last, message, kind, fix in next(lints):
                span = offset + first, offset + last
                ignored = kind in _IGNORED_KINDS or rule.startswith("Expand")
                if (ignored and (rules == ALL or rule in DEFAULT)) or not parsed.free(*span):
                    continue
                if fix and rule in _FIXES and not _FIXES[rule].fullmatch(fix):
                    fix = None
                own.append(
                    parsed.issue(
                        span, fix, message.replace("`", '"'), f"harper.{rule}",
                        _CATEGORIES.get(kind, "grammar"), safe=False,
                    )
                )  # fmt: skip
    return issues


def stretches(parsed: ParsedText, rules: frozenset[str] = DEFAULT) -> Iterator[tuple[int, str]]:
    """What Harper has to read for some rules: offsets and texts of at most 2,000 characters.

    The sentences with signs, where all of the rules have signs.
    """
    # Harper would only lose time with other languages and with rows of signs.
    rows = [match.span() for match in _PATTERNS["signs"].finditer(parsed.prose)]
    unread = [*parsed.foreign, *rows]
    text = blanked(parsed.prose, unread) if unread else parsed.prose
    places = [(0, len(text))]
    if rules <= DEFAULT:  # which look no further than a sentence
        words = parsed.words if text is parsed.text else word_places(text)
        following = _compile_signs()
        signs = sorted(
            start
            for word in following.keys() & words.keys()
            for start in words[word]
            if following[word].match(text, start + len(word))
        )
        places = [
            (start, end)
            for start, end in parsed.sentences
            if bisect_left(signs, start) < bisect_left(signs, end)
        ]
    for span in places:
        for part in _PATTERNS["part"].finditer(text, *span):
            if not part.group().isspace():
                yield part.start(), part.group()


def _split(parts: Sequence[str], lints: Iterable[HarperLint]) -> Sequence[Sequence[HarperLint]]:
    """The findings in parts that were read as one text, by part."""
    starts = [*accumulate((len(part) + 2 for part in parts), initial=0)]
    each: list[list[HarperLint]] = [[] for _ in parts]
    for rule, start, end, message, kind, fix in lints:
        at = bisect_right(starts, start) - 1
        each[at].append((rule, start - starts[at], end - starts[at], message, kind, fix))
    return each


@cache
def _compile_signs() -> Mapping[str, re.Pattern[str]]:
    """What has to follow a word to make it a sign."""
    patterns: dict[str, list[str]] = defaultdict(list)
    for _, _, listed in _SIGNED:
        for sign in listed.split(" ; "):
            words, _, after = sign.partition(" > ")
            pattern = after.strip().replace(" ", r"\s+")
            for word in words.split():
                patterns[word].append(rf"\s+(?:{pattern})(?!\w)" if pattern[:1] != "[" else pattern)
    return {
        word: re.compile("|".join(after) if r"\s+(?:)(?!\w)" not in after else "")
        for word, after in patterns.items()
    }


class Harper:
    """Harper in a worker process of its own, used by one thread at a time.

    Its tables take 130 MB for the life of a process: this one ends after `_IDLE_SECONDS`, and the
    next text starts another.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.idle = Timer(_IDLE_SECONDS, self.close)
        """Ends the process when it had no text for a while."""
        self._answers: dict[tuple[frozenset[str], str], Sequence[HarperLint]] = {}
        """The last answers; after an edit only the parts that it changed are read again."""

    @cached_property
    def worker(self) -> "WorkerProcess":
        """Its process."""
        from sifaka.isolation import WorkerProcess  # it takes the event loop along: only for this

        return WorkerProcess()

    def lint(
        self, parts: Sequence[str], rules: frozenset[str] = DEFAULT
    ) -> list[Sequence[HarperLint]]:
        """The findings of some rules, or of `ALL`, in each part of a text.

        Raises:
            PluginError: Harper crashed, or it took too long.
        """
        with self._lock:
            self.idle.cancel()
            new = [part for part in dict.fromkeys(parts) if (rules, part) not in self._answers]
            keys = [(rules, part) for part in new]
            if new and rules <= DEFAULT:
                # As one text: to read another one takes it as long as twenty sentences.
                (lints,) = self._ask(["\n\n".join(new)], rules, "plaintext")
                self._answers |= zip(keys, _split(new, lints), strict=True)
            elif new:
                self._answers |= zip(keys, self._ask(new, rules, "markdown"), strict=True)
            answers = [self._answers[rules, part] for part in parts]
            while len(self._answers) > _MEMORY:
                del self._answers[next(iter(self._answers))]
            self.idle = Timer(_IDLE_SECONDS, self.close)
            self.idle.daemon = True
            self.idle.start()
        return answers

    def _ask(
        self, texts: Sequence[str], rules: frozenset[str], language: str
    ) -> list[list[HarperLint]]:
        from sifaka.isolation import GIVEN_UP, MEMORY

        work = pickle.dumps((lint_texts, (texts, rules, OFF, language)))
        try:
            with suppress(ChildProcessError):  # it may have ended for another reason
                return self.worker.work(work, seconds=_MOST_SECONDS, memory=MEMORY)
            return self.worker.work(work, seconds=_MOST_SECONDS, memory=MEMORY)
        except GIVEN_UP as error:
            message = "grammar: Harper crashed on the text, or took too long"
            raise PluginError(message) from error

    def close(self) -> None:
        """End the process, if there is one, when it has answered."""
        with self._lock:
            if "worker" in vars(self):
                self.worker.close()


@cache
def shared_harper() -> Harper:
    """The one that all rules of this process ask."""
    harper = Harper()
    atexit.register(harper.worker.kill)
    return harper


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_harper.cache_clear)
