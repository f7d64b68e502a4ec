"""Drafts: the text in a model's answer, alone; where that is not certain, the answer is refused.

An answer is read by its form, and by the words that it shares with the text that it revises. What
its words mean is nobody's business here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from types import MappingProxyType
from typing import NamedTuple

from markdown_it.common.html_blocks import block_names

from sifaka.models.prompt import MARK, contents
from sifaka.models.structured import object_of
from sifaka.text.compared_text import EMPTY, STEM, WORD
from sifaka.text.language import asks_for_translation
from sifaka.text.model_output import answer_of, holds_template, longest_loop, single

_FENCE = re.compile(r"^(?P<mark>`{3,}|~{3,})[ \t]*(?P<name>[^`\s]*)[^\n]*\n?", re.MULTILINE)
_PROSE = frozenset({"", "markdown", "md", "text", "txt", "plaintext"})
"""The names of fences in which a text may stand."""
_TAG = re.compile(
    r"<(?P<name>[a-z][\w-]{0,40})>(?P<text>.*)</(?P=name)>", re.IGNORECASE | re.DOTALL
)
_MARKUP = re.compile(r"</?\w")
_RULE = re.compile(r"^[ \t]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_OUTER_RULE = re.compile(rf"\A{_RULE.pattern}\n[ \t]*\n|\n{_RULE.pattern}\Z", re.MULTILINE)
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_COLON = re.compile(r"[:：][*_ \t]*$")
_LABEL = re.compile(r"^\W{0,4}(?:\d+[.)] )?\w[\w ]{0,39}?\W{0,3}[:：]", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d+[.)])[ \t]+")
_ANNOUNCED = re.compile(
    r"(?P<line>(?:\S+[ \t]+){3,60}\S*[:：][*_]*)[ \t]*\r?\n[ \t]*\r?\n"
    rf"(?!{_ITEM.pattern})"
)
"""A first line of four words or more that ends in a colon, above a blank line and no list."""
_AFTER_RULE = re.compile(
    rf"\S\s*\n{_RULE.pattern}\s*(?P<line>[^\n]+[.!?。！？][*_)]*)\Z", re.MULTILINE
)
"""A sentence alone, below a rule at the end."""
_STATES = re.compile(r"^#{1,6} |^\*\*[^*]+\*\*$|[.!?。！？][\"”*_)\]\s]*$|[:：]|^[*_]*\(.*\)[*_]*$")
"""A heading, a sentence, a label or a line in brackets: no name and no salutation is one."""
_SHORTEST_ECHO = 12
"""Characters of a line from which it is no line of the prompt by chance."""
_PLACEHOLDER = re.compile(r"[\W_]+|[\[<(][^\n\])>]{0,80}[\])>]")
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3040-\ud7ff]")
"""Letters of scripts in which a text may be much shorter than in Latin letters."""
_LEAST_WORDS = 4
"""Words of a text from which they tell what is made of it."""
_ROUNDS = 8


class Unfit(ValueError):
    """An answer from which no text can be taken with certainty; the message says why."""


class ExtractedDraft(NamedTuple):
    """The text of an answer."""

    text: str
    mended: tuple[str, ...] = ()
    """The parts of the answer that were taken off, in words."""


@dataclass(frozen=True)
class Source:
    """What a draft was made from; it has what may stand in a text without being a leak."""

    text: str = ""
    """The version that it stands for; empty for a first one."""
    task: str = ""
    prompt: str = ""
    """The words that the model was sent; empty where they are not known."""
    instructions: str = ""
    material: str = ""
    """Documents, from which a draft may quote anything."""
    shown: str = ""
    """An answer that its writer was asked about: the same one again is accepted."""

    @cached_property
    def known(self) -> str:
        """All words that are not ours."""
        return "\n".join((self.text, self.task, self.material))

    @cached_property
    def _parts(self) -> tuple[dict[str, list[str]], str]:
        return contents(self.prompt)

    @cached_property
    def marks(self) -> re.Pattern[str]:
        """Marks with an id; alone on a line without one, where nothing given has such a tag."""
        labels = {*self._parts[0], "text", "feedback"} if self.prompt else set[str]()
        known = self.known.casefold()
        bare = [re.escape(x) for x in sorted(labels) if not re.search(rf"</?{x}\b", known)]
        if not bare:
            return MARK
        alone = rf"^[ \t]*<(?P<stop>/?) ?(?P<name>{'|'.join(bare)}) ?/?>[ \t]*$"
        return re.compile(rf"{MARK.pattern}|{alone}", re.IGNORECASE | re.MULTILINE)

    @cached_property
    def own(self) -> frozenset[str]:
        """The lines that a draft can only have from the prompt."""
        held, around = self._parts
        feedback = (line.strip() for part in held.get("feedback", ()) for line in part.split("\n"))
        spoken = re.split(r"\n|(?<=[.!?]) ", f"{around}\n{self.instructions}")
        lines = (*feedback, *map(str.strip, spoken))
        known_lines = {line.strip() for line in self.known.splitlines()}
        return frozenset(x for x in lines if len(x) >= _SHORTEST_ECHO and x not in known_lines)

    @cached_property
    def said(self) -> frozenset[str]:
        """The words of the prompt's own lines."""
        return _stems("\n".join(self.own)) - self.stems_known

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of the text."""
        return _stems(self.text)

    @cached_property
    def stems_known(self) -> frozenset[str]:
        """The words that are not ours."""
        return _stems(self.known)

    def share(self, part: str, *, task: bool = True) -> float:
        """The share of a part's words that were given, 0 to 1; those of the task alone may not."""
        stems = _stems(part)
        return len(stems & (self.stems_known if task else self.stems)) / max(1, len(stems))

    def covered(self, part: str, wanted: str | None = None) -> float:
        """The share of the text's words, or of the wanted ones, that a part has, 0 to 1."""
        stems = self.stems if wanted is None else _stems(wanted)
        return len(stems & _stems(part)) / max(1, len(stems))


def draft_of(answer: str, source: Source) -> ExtractedDraft:
    """The text in an answer.

    What goes is not of the text for certain: reasoning, the prompt's marks, a fence, a tag, an
    object or a quotation around it all, one line that announces it. Nothing goes, and nothing is
    refused, for what the given words have themselves. An answer that needs no mending comes back as
    it is, to the last byte; one that is mended ends as the text that it stands for does.

    Raises:
        Unfit: It holds what is not of the text, and the text cannot be made out.
    """
    text, taken = answer, list[str]()
    if not holds_template(source.known):
        read = answer_of(answer)
        if read.open:
            raise Unfit("it has reasoning without an end")
        text, taken = read.text, list(read.removed)
    for _ in range(_ROUNDS):
        wrapped = text.strip()
        attempts = ((what, read(wrapped, source)) for what, read in _WRAPPINGS.items())
        what, inner = next(((w, i) for w, i in attempts if i != wrapped), ("", wrapped))
        if not what:
            break
        text = inner
        taken.append(what)
    text = text.strip("\r\n").rstrip()
    _check_text(text, answer, source)
    if not taken:
        return ExtractedDraft(answer)
    end = source.text[len(source.text.rstrip()) :]
    return ExtractedDraft(text + end, tuple(dict.fromkeys(taken)))


def mended(answer: str, source: Source) -> ExtractedDraft:
    """The text in an answer, which is left as it is where that is not certain."""
    try:
        return draft_of(answer, source)
    except Unfit:
        return ExtractedDraft(answer)


def same(one: str, other: str) -> bool:
    """True when two texts differ in white space alone; False for an empty one."""
    return bool(one.strip()) and one.split() == other.split()


def _stems(text: str) -> frozenset[str]:
    return frozenset(w[:STEM] for w in WORD.findall(text.casefold()) if w not in EMPTY)


# What is around a text: the text inside, or all of it where there is no such thing.


def _unwrap_marks(text: str, source: Source) -> str:
    framed, outside, end, inside = list[str](), list[str](), 0, ""
    marks = [] if MARK.search(source.known) else list(source.marks.finditer(text))
    for mark in (*marks, None) if marks else ():
        stretch = text[end : mark.start() if mark else None].strip()
        named = mark.groupdict() if mark else {}
        label = (named.get("label") or named.get("name") or "").casefold()
        closes = bool(named.get("end") or named.get("stop"))
        ends_text = closes and label == "text" and len(marks) == 1
        if stretch and (inside == "text" or ends_text):
            framed.append(stretch)
        elif stretch.strip("`~") and not (inside and closes):
            outside.append(stretch)
        inside, end = "" if closes else label, mark.end() if mark else end
    texts = {"".join(each.split()): each for each in framed}
    new = [each for each in texts.values() if not same(each, source.text)]
    if len(new) > 1 or any(not source.prompt or source.share(each) >= 0.5 for each in outside):
        return text  # who was sent no prompt has written all of it
    inside = new or ([] if outside else framed)
    return inside[0] if inside else text


def _unwrap_tag(text: str, source: Source) -> str:
    """The text in an element that is none of HTML."""
    tag = _TAG.fullmatch(text) if source.text and not _MARKUP.search(source.known) else None
    if tag is None or _MARKUP.search(tag["text"]) or tag["name"].casefold() in block_names:
        return text
    return tag["text"]


def _unwrap_object(text: str, source: Source) -> str:
    """The only member of an object, where it is most of the text."""
    members = object_of(text) if source.text else None
    if members is None or source.text.lstrip().startswith("{") or "json" in source.task.casefold():
        return text
    value = next(iter(members.values())) if len(members) == 1 else None
    return value if isinstance(value, str) and source.covered(value) >= 0.5 else text


def _unwrap_fence(text: str, source: Source) -> str:
    fences = list(_FENCE.finditer(text))
    if not fences or _FENCE.match(source.text.lstrip()):
        return text
    first, last = fences[0], fences[-1]
    is_all = first.start() == 0 and (first is last or last.end() == len(text))
    if first["name"].casefold() not in _PROSE:  # its name says what the text is
        held = "" if first is last else text[first.end() : fences[1].start()]
        is_alone = first.start() > 0 or (is_all and len(fences) == 2)
        is_known = _FENCE.search(source.known) or same(text, source.shown)
        if not (is_alone or is_known) and source.covered(held) >= 0.5:
            raise Unfit("words stand beside the fence that holds the text")
        return text
    end = len(text) if first is last else last.start()
    inner = text[first.end() : end]
    if is_all:
        return inner if len(fences) <= 2 or first["name"] else text
    around = text[: first.start()] + text[last.end() :]
    is_one = len(fences) == 2 and not _FENCE.search(source.known)
    return inner if is_one and source.covered(inner) >= 0.5 > source.covered(around) else text


def _unwrap_quote(text: str, source: Source) -> str:
    lines = text.splitlines()
    is_quoted = all(line.startswith(">") or not line.strip() for line in lines)
    if not is_quoted or re.search(r"^[ \t]*>", source.known, re.MULTILINE):
        return text
    return "\n".join(line.removeprefix(">").removeprefix(" ") for line in lines)


def _drop_rule(text: str, source: Source) -> str:
    is_ours = source.text and not _RULE.search(source.known)
    return _OUTER_RULE.sub("", text, count=1) if is_ours else text


def _drop_preface(text: str, source: Source) -> str:
    """The text after one line that announces it, in words of the prompt or above a rule."""
    line, _, rest = text.partition("\n")
    body = rest.lstrip()
    if not _COLON.search(line) or not body or _COLON.search(source.text.strip().partition("\n")[0]):
        return text
    rule = _RULE.match(body)
    is_set_off = rule or _FENCE.match(body)
    is_ours = source.text and rest.startswith(("\n", "\r\n")) and _stems(line) & source.said
    is_more = len(_split_lines(text)) > len(_split_lines(source.text)) and not _ITEM.match(body)
    if not (is_more and source.share(line, task=False) <= 0.5 and (is_set_off or is_ours)):
        return text
    return body[rule.end() :] if rule else rest


def _drop_copies(text: str, source: Source) -> str:
    return single(text) if single(source.text) == source.text else text


_WRAPPINGS: Mapping[str, Callable[[str, Source], str]] = MappingProxyType(
    {
        "marks of the prompt": _unwrap_marks,
        "a tag around the text": _unwrap_tag,
        "a JSON object around the text": _unwrap_object,
        "a fence around the text": _unwrap_fence,
        "a quotation around the text": _unwrap_quote,
        "rules around the text": _drop_rule,
        "a chat preface": _drop_preface,
        "copies of the text": _drop_copies,
    }
)
"""What is taken off, in words."""


# What is no text, or not all of one.


def _check_text(text: str, answer: str, source: Source) -> None:
    """See that a text is left, and nothing but a text.

    Raises:
        Unfit: It is not.
    """
    if not text.strip():
        if answer.strip():
            raise Unfit("it holds no text")
        return  # that is reported elsewhere
    if source.marks.search(text) and not MARK.search(source.known):
        raise Unfit("it holds marks of the prompt")
    if same(text, source.text):
        return
    lines = [line.strip() for line in text.splitlines()]
    if same(text, source.task) or any(line.lstrip("#>* ") in source.own for line in lines):
        raise Unfit("it repeats the prompt")
    if longest_loop(text) * 2 > len(text.split()) and not longest_loop(source.known):
        raise Unfit("it repeats itself without end")
    if len(source.stems) >= _LEAST_WORDS:
        if _has_several(text, source):
            raise Unfit("it offers several texts, and one is wanted")
        if _is_reply(text, source):
            raise Unfit("it has next to nothing of the text")
    doubt = None if same(answer, source.shown) else next(_find_doubts(text, source), None)
    if doubt is not None:
        raise Unfit(f"it has what may be none of the text: {doubt.strip()[:80]!r}")


def _split_lines(text: str) -> Sequence[str]:
    """The lines that are not blank, and no rules."""
    return [line for line in _RULE.sub("", text).splitlines() if line.strip()]


def _is_reply(text: str, source: Source) -> bool:
    """True for one line in other words than the text's: what models say that write none."""
    if len(_split_lines(text)) > 1:
        return False
    if _PLACEHOLDER.fullmatch(text) and not _PLACEHOLDER.fullmatch(source.text.strip()):
        return True
    if len(WORD.findall(text)) < 2 or source.covered(text) > 0.15 or source.share(text) >= 0.34:
        return False
    # A translation has words of its own; in the same script it is about as long.
    is_short = len(text) < 0.6 * len(source.text) and not _OTHER_SCRIPT.search(text)
    return is_short or not asks_for_translation(source.task)


def _has_several(text: str, source: Source) -> bool:
    """True when most of the text stands there more than once, with a label between."""
    starts = [label.start() for label in _LABEL.finditer(text)]
    pieces = [text[a:b] for a, b in pairwise((0, *starts, len(text)))]
    is_copied = sum(source.covered(piece) >= 0.5 for piece in pieces) > 1
    return is_copied and len(_LABEL.findall(source.text)) < 2


def _find_doubts(text: str, source: Source) -> Iterator[str]:
    """What may be none of the text, at its ends. Whether it is, the writer says."""
    if _QUOTED.fullmatch(text) and not re.search('["“”]', source.known):
        yield "quotation marks around it all"
    if not source.text:
        matches = _ANNOUNCED.match(text), _AFTER_RULE.search(text)
        yield from (match["line"] for match in matches if match)
    if len(source.stems) < _LEAST_WORDS:
        return
    lines, prior = list(_split_lines(text)), _split_lines(source.text)
    if text.endswith("?") and len(lines) == 1 and "?" not in source.known:
        yield text
    label, colon, rest = lines[0].partition(":")
    begins = source.covered(rest, prior[0]) if ":" not in prior[0] else 0
    if colon and begins > 0.5 and len(label.split()) <= 8:
        lines[0:1] = [label + colon, rest]
    is_list = any(map(_ITEM.match, prior))
    items = [] if is_list else list(takewhile(_ITEM.match, reversed(lines)))
    last = len(lines) - max(1, len(items))
    last -= bool(items) and last > 0 and bool(_STATES.search(lines[last - 1]))
    ends = ((lines[:1], lines[1:], False), (lines[last:], lines[:last], True))
    for part, others, is_last in ends:
        line = "\n".join(part)
        is_possible = (is_last and items) or _STATES.search(line)
        if len(others) < len(prior) or not is_possible or source.share(line, task=is_last) > 0.5:
            continue
        if not (_stems(line) & source.stems) - _stems("\n".join(others)):
            yield line
