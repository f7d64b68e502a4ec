"""Misspelt words, by the `typos` dictionary of known misspellings."""

import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock

from sifaka.editor.lexicon import lexicon
from sifaka.editor.parsed_text import ParsedText
from sifaka.errors import PluginError
from sifaka.record.results import Issue

# Underscores are no letters here: _emphasis_ is prose, and names with underscores are protected.
_WORD = re.compile(r"(?<![^\W_])(?<!['’\-/@#.&])[A-Za-z][a-z]+(?![^\W_]|['’@/]|-\w|\.\w)")
# Right in technical texts, though a misspelling elsewhere.
_TERMS = lexicon(
    "thead referer buildd buildds hist strat numer datas wan wans ans parms mis vie te udate",
    "mmaped invokable unparseable cacheing alinged",
    "hda noice wether alls ser unselect readd inout tre crate pres sur",
    "writeable transferrable clonable",
)
_SHORT = frozenset({"teh", "hte", "adn"})
_MEMORY = 50_000
"""Words whose answers are kept, the latest."""
_SECONDS = 10


def spelling(parsed: ParsedText) -> Iterator[Issue]:
    """Misspelt words: lower-case ones with a single correction are safe to fix.

    Raises:
        PluginError: `typos` is missing or failed.
    """
    found = list(_WORD.finditer(parsed.text))
    corrections = _SPELLER.corrections({match.group().lower() for match in found})
    if not corrections:
        return
    terms = _terms_of(parsed)
    for match in found:
        word = match.group()
        fixes = corrections.get(word.lower(), ())
        if fixes and parsed.free(*match.span()):
            yield from _issue(parsed, match, word, fixes, terms)


def learn(texts: Iterable[str]) -> None:
    """Ask about the words of several texts at once, before each of them is checked.

    Without `typos` nothing happens; the checks tell that.
    """
    words = {match.group().lower() for text in texts for match in _WORD.finditer(text)}
    with suppress(PluginError):
        _SPELLER.corrections(words)


def find_typos() -> str | None:
    """The `typos` program beside this interpreter, else on the search path."""
    beside = Path(sysconfig.get_path("scripts")) / "typos"
    return shutil.which(str(beside)) or shutil.which("typos")


def _issue(
    parsed: ParsedText, match: re.Match[str], word: str, fixes: Sequence[str], terms: frozenset[str]
) -> Iterator[Issue]:
    start, end = match.span()
    if not terms.union(_TERMS).isdisjoint({word.lower(), word.lower().removesuffix("s")}):
        return
    if word[0].isupper():
        # In the middle of a sentence a capital means a name.
        if start not in parsed.sentence_starts:
            return
        capital = tuple(fix[:1].upper() + fix[1:] for fix in fixes)
        if len(fixes) > 1 or _is_doubtful(word.lower(), fixes[0]) or _may_be_name(parsed, match):
            yield _unsure(parsed, start, end, capital)
        else:
            yield _sure(parsed, start, end, capital[0])
    elif len(fixes) > 1 or _is_doubtful(word, fixes[0]):
        yield _unsure(parsed, start, end, fixes)
    else:
        yield _sure(parsed, start, end, fixes[0])


def _sure(parsed: ParsedText, start: int, end: int, fix: str) -> Issue:
    message = f'"{parsed.text[start:end]}" should be "{fix}"'
    return parsed.safe(start, end, fix, message, rule="misspelling", category="spelling")


def _may_be_name(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when a capital at the start of a sentence may belong to a name.

    It may where another capital follows (`Lenght Brothers`), where nothing does, and where the
    same word has a capital inside another sentence.
    """
    following = re.compile(r"[*_]{0,2} +[a-z]").match(parsed.text, match.end())
    if following is None:
        return True
    return match.group() in parsed.names


def _unsure(parsed: ParsedText, start: int, end: int, fixes: Sequence[str]) -> Issue:
    choices = " or ".join(f'"{fix}"' for fix in fixes[:3])
    return parsed.suggestion(
        start,
        end,
        f'"{parsed.text[start:end]}" may be a misspelling of {choices}',
        rule="misspelling",
        category="spelling",
        fix=fixes[0] if len(fixes) == 1 else None,
    )


def _is_doubtful(word: str, fix: str) -> bool:
    """True when the word is too short to be sure, or looks like a daemon's name (`buildd`)."""
    if len(word) < 4 and word not in _SHORT:
        return True
    return word.endswith(("d", "ds")) and fix == re.sub(r"d(s?)$", r"\1", word)


def _terms_of(parsed: ParsedText) -> frozenset[str]:
    """The words that stand alone in inline code: where `buildd` is code, it is a term in prose."""
    contents = (parsed.text[start:end].strip("`=~+|").strip().lower() for start, end in parsed.code)
    return frozenset(content for content in contents if content.isalpha())


class _Speller:
    """Asks `typos` about words it has not been asked about before.

    The dictionary knows single words, so an answer holds in every text and is worth keeping.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._lock = Lock()

    def corrections(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """The misspelt ones among the words, with what they may be meant to be."""
        wanted = set(words)
        with self._lock:
            new = sorted(wanted - self._known.keys())
            if new:
                found = _ask(new)
                self._known.update({word: found.get(word, ()) for word in new})
            fixes = {word: self._known[word] for word in wanted if self._known[word]}
            for word in list(islice(self._known, max(0, len(self._known) - _MEMORY))):
                del self._known[word]
            return fixes


_SPELLER = _Speller()


def _ask(words: list[str]) -> dict[str, tuple[str, ...]]:
    program = find_typos()
    if program is None:
        raise PluginError("spelling: `typos` is not installed", "pip install typos")
    command = [program, "--isolated", "--no-check-filenames", "--format", "json", "-"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command line; the text goes through stdin
            command,
            input="\n".join(words) + "\n",
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PluginError(f"spelling: `typos` failed ({type(error).__name__})") from error
    # 0: no mistakes, 2: mistakes; anything else is an error of the program.
    if done.returncode not in (0, 2):
        raise PluginError(f"spelling: `typos` failed with status {done.returncode}")
    found: dict[str, tuple[str, ...]] = {}
    for line in done.stdout.splitlines():
        entry = json.loads(line)
        word = entry.get("typo", "")
        # A part of a longer word says nothing about the word.
        if entry.get("type") == "typo" and words[entry["line_num"] - 1] == word:
            found[word] = tuple(entry["corrections"])
    return found
