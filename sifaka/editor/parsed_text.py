"""A text as the rules see it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from weakref import WeakValueDictionary

from sifaka.editor.facts import keeps_facts
from sifaka.editor.protection import (
    MARKDOWN_LIKE,
    Cover,
    blocks,
    foreign,
    named_inline,
    tokens_of,
    verbatim_inline,
)
from sifaka.record.results import Issue
from sifaka.text.formats import READERS, UNCHECKED, Format, Mark, marks, underlined, view
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked, merged, sentences, word_places
from sifaka.text.tables import patterns_of

REACH = 200
"""Characters of a long line that are examined."""
FAR = 1_000
"""Characters of a long sentence that are examined before a place in it."""

_PATTERNS = patterns_of(__file__, "places")
_Found = dict[Callable[["ParsedText"], Iterable[Issue]], Sequence[Issue]]
_IN_USE: WeakValueDictionary[tuple[str, Format], "ParsedText"] = WeakValueDictionary()


@dataclass(frozen=True, eq=False)
class ParsedText:
    """A text, what is protected in it, and where its sentences begin."""

    text: str
    prose: str
    """The text without the markup of its format, as long as the text itself."""
    format: Format = Format.MARKDOWN
    markup: Sequence[Mark] = ()
    """What the reader of the format found."""
    found: _Found = field(default_factory=_Found, init=False)
    """The findings of the rules that have run."""

    @classmethod
    @lru_cache(maxsize=1)
    def read(cls, text: str, format: Format) -> "ParsedText":
        """A text as prose, without the markup where its format has a reader.

        The last one is kept, with what was found in it: editor and critic ask for the same text.
        So is each that is in use.
        """
        parsed = _IN_USE.get((text, format))
        if parsed is None:
            markup = marks(text, format) if format in READERS else ()
            prose = view(text, markup) if markup else text
            parsed = cls(text, prose, format, markup)
            _IN_USE[text, format] = parsed
        return parsed

    @cached_property
    def _tokens(self) -> list[Span]:
        return list(tokens_of(self.prose))

    @cached_property
    def words(self) -> Mapping[str, Sequence[int]]:
        """The offsets of each word, by its small letters."""
        return word_places(self.text)

    @cached_property
    def verbatim(self) -> Cover:
        """The parts that even a requested replacement must leave alone.

        The code and markup of the format, URLs, e-mail addresses, paths, tags and formulas: another
        spelling there is another thing. Source code and data are taken for plain text here.
        """
        format = Format.TEXT if self.format in UNCHECKED else self.format
        marked = ((start, end) for start, end, _ in self.markup)
        return Cover(merged(chain(marked, verbatim_inline(self.prose, format, self._tokens))))

    @cached_property
    def protected(self) -> Cover:
        """The parts that no rule may report on or change.

        Beside the verbatim ones those are identifiers, flags, short quotes, tables, front matter,
        indented code and column layouts.
        """
        named = named_inline(self.prose, self._tokens)
        laid_out = blocks(self.text, self.format, self.markup)
        return Cover(merged(chain(self.verbatim.spans, named, laid_out)))

    @cached_property
    def reserved(self) -> Cover:
        """The parts closed to rules about English: the protected ones and other languages."""
        return Cover(merged(chain(self.protected.spans, self.foreign)))

    @cached_property
    def foreign(self) -> list[Span]:
        """The parts in other languages than English."""
        return list(foreign(self.prose))

    @property
    def foreign_share(self) -> float:
        """The share of the prose that is in other languages than English, 0 to 1."""
        prose = blanked(self.prose, self.protected.spans)
        there = sum(_count_letters(prose[start:end]) for start, end in self.foreign)
        return there / max(1, _count_letters(prose))

    @cached_property
    def _underlined(self) -> Cover:
        return Cover(merged(underlined(self.text, self.format)))

    @cached_property
    def sentences(self) -> Sequence[Span]:
        """The sentences of the text."""
        return sentences(self.prose)

    @cached_property
    def sentence_starts(self) -> frozenset[int]:
        """The offsets at which sentences, list items and headings begin, after their marks."""
        starts = [start for start, _ in self.sentences]
        starts += [match.end() for match in _PATTERNS["item"].finditer(self.prose)]
        marks = (_PATTERNS["marks"].match(self.prose, start) for start in starts)
        return frozenset(match.end() for match in marks if match)

    @cached_property
    def _ordered_starts(self) -> list[int]:
        return sorted(self.sentence_starts)

    @cached_property
    def names(self) -> frozenset[str]:
        """The words with a capital that stand inside a sentence."""
        return frozenset(
            match.group()
            for match in _PATTERNS["capitalised"].finditer(self.prose)
            if match.start() not in self.sentence_starts
        )

    @cached_property
    def apostrophe(self) -> str:
        """The one that the text uses, `'` or `’`."""
        return "’" if self.text.count("’") > self.text.count("'") else "'"

    @cached_property
    def code(self) -> list[Span]:
        """The code inside sentences, marks included."""
        if self.format in MARKDOWN_LIKE:
            return code_spans(self.text)
        return [(start, end) for start, end, kind in self.markup if kind == "code"]

    def free(self, start: int, end: int) -> bool:
        """True when a rule about English may examine this place."""
        return not self.reserved.touches(start, end)

    def sentence_start_before(self, offset: int) -> int:
        """The start of the sentence, list item or heading around an offset.

        Of a very long one, the place `FAR` characters before the offset.
        """
        index = bisect_right(self._ordered_starts, offset)
        return max(*self._ordered_starts[max(0, index - 1) : index], 0, offset - FAR)

    def line(self, offset: int) -> str:
        """The line around an offset, as far as `REACH` characters to each side."""
        before = self.text[max(0, offset - REACH) : offset]
        after = self.text[offset : offset + REACH]
        return before[before.rfind("\n") + 1 :] + after.partition("\n")[0]

    def words_in_line(self, offset: int) -> int:
        """The number of words in the line around an offset."""
        return len(_PATTERNS["word"].findall(self.line(offset)))

    def word_before(self, offset: int) -> str:
        """The word that ends before an offset, only white space between, in lower case."""
        match = _PATTERNS["before"].search(self.text[max(0, offset - 60) : offset])
        return match.group(1).lower() if match else ""

    def word_after(self, offset: int) -> str:
        """The word that begins after an offset, only white space between, in lower case."""
        match = _PATTERNS["after"].match(self.text, offset)
        return match.group(1).lower() if match else ""

    def issue(
        self,
        place: Span,
        fix: str | None,
        message: str,
        rule: str,
        category: str = "grammar",
        *,
        safe: bool = True,
        severity: int = 2,
    ) -> Issue:
        """A mistake, whose fix may be certain; what is not safe needs a person's judgement.

        When the fix would alter a number, an address or a negation, the width of a title above
        its underline, or what a line begins with, it is only a suggestion.
        """
        if fix and fix.endswith("\n") and (indent := _PATTERNS["indent"].search(self.text, *place)):
            fix += indent.group(1)  # the rest of the line stays where it was
        issue = Issue.at(
            self.text, *place, message, category=category, severity=severity, fix=fix, rule=rule,
            safe=safe,
        )  # fmt: skip
        if not safe or (keeps_facts(self.text, issue) and self._keeps_layout(*place, fix or "")):
            return issue
        return issue.model_copy(update={"safe": False})

    def _keeps_layout(self, start: int, end: int, fix: str) -> bool:
        is_moved = len(fix) != end - start and self._underlined.touches(start, end)
        is_cut = fix.rstrip(" \t").endswith("\n") and _PATTERNS["line_mark"].match(self.text, end)
        return not (is_moved or is_cut)


def protected(text: str, format: Format = Format.MARKDOWN) -> Sequence[Span]:
    """The parts of a text that no rule may report on or change, in order and without overlaps."""
    return ParsedText.read(text, format).protected.spans


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))
