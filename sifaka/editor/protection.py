"""What of a text is closed to rules: other languages, code, addresses, names, quotes, tables, data.

It needs no fence to be recognised. Inside a line the form of a piece decides; whole lines are known
by their layout, and paragraphs by their lines: code, queries, logs, settings, traces, sessions of a
shell. Prose has to look like prose to be edited among them.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from sifaka.text.formats import Format, Mark
from sifaka.text.formats.markup_spans import Closings
from sifaka.text.markdown import code_spans, front_matter, read_markdown
from sifaka.text.prose import Span, blanked, urls
from sifaka.text.tables import patterns_of, words_of

_INLINE = patterns_of(__file__, "inline")
_LAYOUT = patterns_of(__file__, "layout")
_MACHINE = patterns_of(__file__, "machine")
_TRUTH = words_of(__file__, "layout")["truth"]
MARKDOWN_LIKE = frozenset({Format.MARKDOWN, Format.MDX, Format.TEXT})
"""Formats that are read as Markdown; indentation alone makes code in them."""
_LAID_OUT = MARKDOWN_LIKE | {Format.RST}
"""Formats in which a line and its white space mean something."""


@dataclass(frozen=True)
class Cover:
    """A set of spans, in order and apart, that answers quickly whether a place is free of them."""

    spans: Sequence[Span]

    def touches(self, start: int, end: int) -> bool:
        """True when `start:end` shares a character with a span, or is an insertion inside one."""
        # The last span that starts before the place ends; earlier ones end before it starts.
        index = bisect_right(self.spans, (max(end - 1, start), sys.maxsize)) - 1
        span_start, span_end = self.spans[index] if index >= 0 else (start, start)
        return span_end > start if end > start else span_start < start < span_end


# --- other languages ---

_LANGUAGE = patterns_of(__file__, "language")
_WORDS = words_of(__file__, "language")
_ENGLISH = _WORDS["english"]
"""The words that most English sentences have some of."""
_POINTS = {
    word: (
        0 if word not in _ENGLISH else 1 if word in _WORDS["shared"] else 2,
        0
        if word not in _WORDS["other"]
        else 1
        if word in _WORDS["shared"] or word in _ENGLISH
        else 2,
    )
    for word in _ENGLISH | _WORDS["other"]
}
"""The points of a word for English, and for other languages."""
_ENDINGS = tuple(_WORDS["endings"])
_ENDING = re.compile(rf"\w{{3}}(?:{'|'.join(_ENDINGS)})$")


def foreign(text: str) -> Iterator[Span]:
    """The paragraphs and single sentences that look like another language than English.

    None overlaps another. What gives no evidence of its own goes with the paragraph, or with the
    whole text. A text without any evidence counts as English.
    """
    read = [
        (match, _weigh_words(_LANGUAGE["word"].findall(match.group())))
        for match in _LANGUAGE["paragraph"].finditer(text)
    ]
    whole = sum(other - english for _, (english, other) in read) > 0
    for match, (english, other) in read:
        if (other > english and other >= 2) or (whole and not english):
            yield match.span()
        if other < 4 or other > english:
            continue
        for sentence in _LANGUAGE["sentence"].finditer(match.group()):
            english, other = _weigh_words(_LANGUAGE["word"].findall(sentence.group()))
            if other > english * 2 and other >= (4 if english else 2):
                yield match.start() + sentence.start(), match.start() + sentence.end()


def _weigh_words(words: list[str]) -> tuple[int, int]:
    """Points for English and for other languages: two for a word of one side only."""
    english = other = 0
    for number, word in enumerate(words):
        lowered = word.lower()
        if points := _POINTS.get(lowered):
            # Los Angeles, El Niño, Van der Berg: names of any origin stand in English too.
            if lowered in _ENGLISH or not number or not word[0].isupper():
                english += points[0]
                other += points[1]
        elif number and word[0].isupper():
            continue
        elif not lowered.isascii():
            other += 2 if ord(lowered[0]) > 0x36F or _LANGUAGE["letter"].search(lowered) else 1
        elif lowered.endswith(_ENDINGS) and _ENDING.search(lowered):
            other += 1
    return english, other


# --- inside a line ---

_IN_MARKDOWN = {"link_destination": "]", "reference": "]", "tag": "<&", "math": "$"}
"""What is markup in Markdown and plain text alone, each with marks of which it has one."""
_NAMED = {"quote": "\"“«„‘'", "call": "(", "placeholder": "{%["}
_CLOSING = {"<!--": "-->", "$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_EDGES = "*_~.,;:!?'’‘…`"
_LATIN = frozenset({"i.e", "e.g"})


def verbatim_inline(text: str, format: Format, tokens: Iterable[Span]) -> Iterator[Span]:
    """Code, addresses, paths and tags: what a machine reads character by character.

    What is markup in Markdown alone is looked for in Markdown and plain text alone.

    Args:
        text: The text.
        format: Its format.
        tokens: Those that `tokens_of` finds in it.
    """
    yield from urls(text)
    yield from _find_marked({"email": "@"}, text)
    if format in MARKDOWN_LIKE:
        yield from code_spans(text)
        yield from _find_enclosed(text, _INLINE["opening"], _choose_closing)
        yield from _find_references(text)
        yield from _find_marked(_IN_MARKDOWN, text)
    yield from (span for span in tokens if _INLINE["path"].match(text[slice(*span)]))


def named_inline(text: str, tokens: Iterable[Span]) -> Iterator[Span]:
    """Identifiers, flags, placeholders and short quotes: what stands for itself."""
    yield from _find_marked(_NAMED, text)
    for start, end in tokens:
        token = text[start:end]
        if token not in _LATIN and (
            _INLINE["flag"].match(token) or _INLINE["identifier"].search(token)
        ):
            yield start, end


def tokens_of(text: str) -> Iterator[Span]:
    """The pieces between white space and brackets, without the punctuation of the sentence."""
    for match in _INLINE["token"].finditer(text):
        token = match.group()
        # A leading dot or underscore belongs to a name: .gitignore, _private.
        head = token.lstrip("*~,;:!?'’‘…`")
        core = head.rstrip(_EDGES)
        if len(head) > 2 and head[0] == "_" and head.rstrip("*~.,;:!?").endswith("_"):
            core = core.lstrip("_")  # emphasis, not a name
        if core:
            start = match.start() + token.find(core)
            yield start, start + len(core)


def _find_marked(patterns: dict[str, str], text: str) -> Iterator[Span]:
    """The matches of those patterns of which the text has one of the marks."""
    for name, marks in patterns.items():
        if any(mark in text for mark in marks):
            yield from (match.span() for match in _INLINE[name].finditer(text))


def _find_references(text: str) -> Iterator[Span]:
    """Link texts that are labels too: `[guide]` and `[guide][]`, where `guide` is defined."""
    for match in _INLINE["label"].finditer(text) if "]:" in text else ():
        if " ".join(match.group(1).split()).upper() in read_markdown(text).references:
            yield match.span()


def _choose_closing(opening: re.Match[str]) -> str:
    """What closes a comment, a formula or an element whose content is not prose."""
    return _CLOSING.get(opening.group()) or f"</{opening['element'].lower()}"


def _find_enclosed(
    text: str, opening: re.Pattern[str], closing: Callable[[re.Match[str]], str]
) -> Iterator[Span]:
    """The stretches from an opening mark to the closing one, whose case does not matter."""
    closings = Closings(text.lower())
    position = 0
    for match in opening.finditer(text):
        if match.start() >= position and (end := closings.after(closing(match), match.end(), 0)):
            position = end
            yield match.start(), end


# --- lines ---


def blocks(
    text: str, format: Format = Format.MARKDOWN, markup: Sequence[Mark] = ()
) -> Iterator[Span]:
    """Spans of whole lines that keep their exact form.

    Args:
        text: The whole text.
        format: Its format.
        markup: What its reader has found; its blocks are not looked at again.
    """
    if format not in _LAID_OUT:
        return
    if front := front_matter(text):
        yield 0, front
    if format not in MARKDOWN_LIKE:
        text = blanked(text, ((start, end) for start, end, kind in markup if kind == "block"))
    lines = [line.span() for line in _LAYOUT["line"].finditer(text)]
    if format in MARKDOWN_LIKE and _LAYOUT["indented"].search(text):
        yield from read_markdown(text).places("code_block")
    yield from _find_tables(text, lines)
    yield from _find_columns(text, lines)
    yield from _find_machine_text(text)
    yield from (span for span in lines if _is_no_sentence(text[slice(*span)]))


def _find_tables(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Markdown and grid tables but for sentences in cells, without the last line end.

    Where the rows are aligned with the first one all of them is closed: a fix would move a border.
    """
    first: int | None = None
    width = 0
    for start, end in lines:
        if not _is_row(text[start:end].strip()):
            first = None
            continue
        if first is None:
            first, width = start, end - start
        for cell in _LAYOUT["cell"].finditer(text, start, end) if end - start != width else ():
            if _is_readable(cell.group()):
                yield first, cell.start()
                first = cell.end()
        yield first, end
        first = end


def _is_row(line: str) -> bool:
    is_ruled = line[:1] == "+" and bool(_LAYOUT["table_rule"].match(line))
    return line[0] == "|" or " | " in f" {line} " if "|" in line else is_ruled


def _is_no_sentence(line: str) -> bool:
    """True when a line alone shows that it is not a sentence."""
    line = line.rstrip()
    stripped = line.strip()
    is_spaced = "  " in stripped or "\t" in stripped
    gaps = _LAYOUT["gap"].findall(_LAYOUT["mark"].sub("", line, count=1)) if is_spaced else ()
    tokens = stripped.split()
    bare = (token.strip(",;|").lower() for token in tokens)
    visible = "".join(tokens)
    return bool(stripped) and (
        bool(_LAYOUT["hex_dump"].search(line) or _LAYOUT["data"].match(line))
        or any("\t" in gap or len(gap) >= 4 for gap in gaps)
        or (len(tokens) >= 2 and all(token in _TRUTH or not token for token in bare))
        or (len(visible) > 5 and sum(map(str.isalpha, visible)) * 2 < len(visible))
    )


def _find_columns(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Neighbouring lines whose gaps line up, or that have the same few words each."""
    written = [text[start:end] for start, end in lines]
    gaps = [_find_gap_ends(line.rstrip()) for line in written]
    for at, (above, below) in enumerate(pairwise(lines)):
        if gaps[at] & gaps[at + 1]:
            yield above
            yield below
    words = [line.split() for line in written]
    for at, (first, third) in enumerate(zip(lines, lines[2:], strict=False)):
        rows = words[at : at + 3]
        count = len(rows[0])
        if 2 <= count <= 6 and all(
            len(row) == count
            and row[-1][-1] not in ".!?:,;"
            and not _LAYOUT["list_item"].match(" ".join(row))
            for row in rows
        ):
            yield first[0], third[1]


def _find_gap_ends(line: str) -> frozenset[int]:
    gaps = _LAYOUT["gap"].finditer(line) if "  " in line or "\t" in line else ()
    return frozenset(gap.end() for gap in gaps)


# --- paragraphs that a machine reads ---

_EVIDENT = [_MACHINE[name] for name in ("whole", "log", "trace", "command", "element", "query")]
"""Lines that need no second look."""


def _find_machine_text(text: str) -> Iterator[Span]:
    """Spans of whole lines that are not written for people to read as sentences."""
    # Long strings and comments of programs.
    yield from _find_enclosed(text, _MACHINE["literal"], lambda match: match.group(1) or "*/")
    after_machine = False
    for match in _MACHINE["paragraph"].finditer(text):
        lines = match.group().rstrip("\n").split("\n")
        machine = [_is_machine(line) for line in lines]
        if _is_whole(lines, machine, after_machine=after_machine):
            yield match.start(), match.start() + len(match.group().rstrip("\n"))
            after_machine = True
            continue
        after_machine = any(machine)
        if after_machine:
            yield from _find_runs(match.start(), lines, machine)


def _is_machine(line: str) -> bool:
    """True when a line alone shows that it holds no sentence."""
    line = line.rstrip()[:500]
    if _MACHINE["mark"].match(line) or not line.strip():
        return False
    is_evident = any(pattern.match(line) for pattern in _EVIDENT)
    return is_evident or (bool(_MACHINE["code"].match(line)) and not _is_readable(line))


def _is_prose(line: str) -> bool:
    """True when a line is a sentence, or a part of one, in a natural language."""
    if _MACHINE["mark"].match(line):
        return not line.lstrip().startswith("#") and _is_readable(line)
    unlike = (_MACHINE[name] for name in ("log", "trace", "query"))
    return _is_readable(line) and not any(pattern.match(line) for pattern in unlike)


def _is_readable(line: str) -> bool:
    end = line.rstrip()
    words = _MACHINE["word"].findall(line)
    fragment = len(words) < 6 and not end.endswith((".", "!", "?", ":", ","))
    if fragment or end.endswith(("{", "};", ");")):
        return False
    plain = sum(word.lower() in _ENGLISH for word in words)
    symbols = _MACHINE["symbols"].findall(line)
    return plain >= 2 and plain * 5 >= len(words) and len(symbols) * 3 <= plain


def _is_whole(lines: Sequence[str], machine: Sequence[bool], *, after_machine: bool) -> bool:
    """True when all lines of a paragraph are written for a machine."""
    if _are_values(lines) or _are_settings(lines) or _is_recipe(lines):
        return True
    evident = sum(machine)
    mostly = evident * 2 >= len(lines) and (evident > 1 or len(lines) <= 2)
    if (mostly or any(map(_MACHINE["whole"].match, lines))) and not _is_prose(lines[0]):
        return True
    if not (evident or after_machine) or any(map(_is_prose, lines)):
        return False
    # A blank line inside a listing: what follows goes on where it stopped.
    return (
        bool(evident)
        or all(map(_MACHINE["deeper"].match, lines))
        or (not _MACHINE["mark"].match(lines[0]) and all(map(_MACHINE["continues"].match, lines)))
    )


def _are_values(lines: Sequence[str]) -> bool:
    """True when all lines are data: values with separators."""
    if head := _MACHINE["bare_header"].match(lines[0]):
        return all(head["mark"] in line for line in lines)
    bare = [_MACHINE["quoted"].sub('"', line) for line in lines]
    return len(lines) > 1 and any(_are_rows(bare, mark) for mark in ",;|")


def _are_rows(lines: Sequence[str], mark: str) -> bool:
    """True when all lines have as many fields, and none of these is long enough for a clause."""
    count = lines[0].count(mark)
    if not count or any(line.count(mark) != count for line in lines):
        return False
    fields = (field for line in lines for field in line.strip().split(mark))
    return not any(f"{mark} " in line for line in lines) or (
        count > 1
        and not any(line.rstrip().endswith((".", "!", "?", ":", ",")) for line in lines)
        and all(len(field.split()) <= 2 for field in fields)
    )


def _are_settings(lines: Sequence[str]) -> bool:
    """True when all lines are data: keys with values."""
    pairs = list(filter(None, map(_MACHINE["pair"].match, lines)))
    others = [
        line
        for line in lines
        if not _MACHINE["pair"].match(line) and not _MACHINE["section"].match(line)
    ]
    keys = [match["key"] for match in pairs]
    return (
        bool(pairs)
        and len(lines) - len(others) >= max(2, len(others))
        and all(_MACHINE["remark"].match(line) or _MACHINE["item"].match(line) for line in others)
        and (
            all(not key[0].isupper() or key.isupper() for key in keys)
            or any(match["mark"] == "=" for match in pairs)
            or any(map(_MACHINE["http_key"].match, keys))
        )
    )


def _is_recipe(lines: Sequence[str]) -> bool:
    """True for a rule of a makefile: a target, and commands behind tabs."""
    target, *commands = lines
    tabbed = bool(commands) and all(line.startswith("\t") for line in commands)
    return tabbed and bool(_MACHINE["target"].match(target))


def _find_runs(offset: int, lines: Sequence[str], machine: Sequence[bool]) -> Iterator[Span]:
    """The evident lines of a mixed paragraph, and what hangs on them."""
    begins = accumulate((len(line) + 1 for line in lines), initial=offset)
    inside = False
    for begin, line, evident, below in zip(
        begins, lines, machine, (*machine[1:], False), strict=False
    ):
        inside = evident or (
            inside and (bool(_MACHINE["deeper"].match(line)) or not _is_prose(line))
        )
        # A comment or a heading of the listing stands right above it.
        if inside or (below and not _is_prose(line)):
            yield begin, begin + len(line)
