"""Drafts: the text in a model's answer, mended where that is certain and else refused."""

import re
from typing import NamedTuple

from sifaka.models.draft_lines import LONGEST_REMARK, Source, lines_of, same, splits_list
from sifaka.models.draft_wrapping import (
    after_reasoning,
    is_choice,
    is_placeholder,
    out_of_object,
)
from sifaka.models.prompt import MARK
from sifaka.models.remarks import is_letter
from sifaka.text.reasoning import answer_of, holds_template
from sifaka.text.repetition import longest_loop, single

_FENCED = re.compile(
    r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<name>markdown|md|text|txt|plaintext)?[ \t]*\r?\n"
    r"(?P<text>.*?)(?P<end>\n(?P=mark))?",
    re.DOTALL | re.IGNORECASE,
)
_FENCE = "```", "~~~"
_QUOTED = re.compile(r"\A[\"“]([^\"“”]*)[\"”]\Z")
_ABOUT_QUOTES = re.compile(r"quot|speech|saying|dialog", re.IGNORECASE)
_TURN = re.compile(
    r"^(?:\W{0,4})(?:user|human|assistant|system)\W{0,4}:", re.IGNORECASE | re.MULTILINE
)
_ANSWERING = re.compile(
    r"\A\W{0,4}(?:assistant\W{0,3}:|(?:answer|output)\W{0,3}:[\s*]*\n)\s*", re.IGNORECASE
)
_SHORTEST_REMARK = 12
"""Characters of an answer from which it can be a remark as a whole."""
_LEAST = 8
"""An answer that is mended is no text when so many of it are shorter than the one before."""
_ROUNDS = 4
_REPEATS = re.compile(r"repeat|times|refrain|chorus|song|rhyme|lyric", re.IGNORECASE)


class Unfit(ValueError):
    """An answer from which no text can be taken with certainty; the message says why."""


class Draft(NamedTuple):
    """The text of an answer."""

    text: str
    mended: tuple[str, ...] = ()
    """The parts of the answer that were taken off, in words."""


def draft_of(answer: str, source: Source) -> Draft:
    """The text in an answer.

    What goes is not of the text for certain: reasoning, the prompt's marks and lines, remarks of a
    chat before and after it, a fence or quotation marks around it all. Nothing goes, and nothing is
    refused, for what the given words have themselves. An answer that needs no mending comes back as
    it is, to the last byte; one that is mended ends as the text that it stands for does.

    Raises:
        Unfit: It holds what is not of the text, and where the text is cannot be told.
    """
    mending = _Mending(answer, source)
    mending.work()
    mending.check()
    if not mending.done:
        return Draft(answer)
    end = source.text[len(source.text.rstrip()) :]
    return Draft(mending.text.strip("\r\n").rstrip() + end, tuple(dict.fromkeys(mending.done)))


def mended(answer: str, source: Source) -> Draft:
    """The text in an answer, which is left as it is where that is not certain."""
    try:
        return draft_of(answer, source)
    except Unfit:
        return Draft(answer)


class _Mending:
    """One answer on its way to a text."""

    def __init__(self, answer: str, source: Source) -> None:
        self.text = answer
        self.done: list[str] = []
        self._source = source
        self._known = source.known

    def work(self) -> None:
        """Take off what is certain.

        Raises:
            Unfit: What is left cannot be told from what is not of the text.
        """
        self._reasoning()
        self._wrapping()
        for _ in range(_ROUNDS):
            before = self.text
            self._turn()
            self._marks()
            self._fence()
            self._around()
            self._quotes()
            if self.text == before:
                break
        self._copies()

    def check(self) -> None:
        """See that a text is left, and nothing but a text.

        Raises:
            Unfit: It is not.
        """
        text, source = self.text.strip(), self._source
        if not text:
            if not self.done:
                return  # that is told by itself, and by others
            raise Unfit("it holds no text")
        if self.done and len(text) * _LEAST < len(source.text):
            raise Unfit("too little of it is the text")
        if is_placeholder(text) and not is_placeholder(source.text.strip()):
            raise Unfit("it stands for a text, and is none")
        if source.remarks.is_refusal(text):
            raise Unfit("the model refuses in place of writing")
        if MARK.search(text) and not MARK.search(self._known):
            raise Unfit("it holds marks of the prompt")
        if same(text, source.task) and not same(text, source.text):
            raise Unfit("it repeats the task")
        inside = (
            {kind for kind, _ in lines_of(self.text, source)}
            if len(text) >= _SHORTEST_REMARK
            else ()
        )
        if "echo" in inside:
            raise Unfit("it repeats the prompt")
        if "remark" in inside:
            raise Unfit("it talks about the text, and where the text is cannot be told")
        if is_choice(text, known=self._known, task=source.task):
            raise Unfit("it offers several texts")
        if len(_TURN.findall(text)) > 1 and not _TURN.search(self._known):
            raise Unfit("it goes on with a conversation")
        may_repeat = _REPEATS.search(source.task)
        if not may_repeat and longest_loop(text) and not longest_loop(self._known):
            raise Unfit("it repeats itself without end")

    def _take(self, text: str, what: str) -> None:
        if text.strip() != self.text.strip():
            self.text = text
            self.done.append(what)

    def _reasoning(self) -> None:
        if holds_template(self._known):
            return
        answer = answer_of(self.text)
        if answer.open:
            raise Unfit("its reasoning has no end")
        self.text = answer.text
        self.done += answer.removed

    def _wrapping(self) -> None:
        given, task = self._source.text, self._source.task
        if (worked := after_reasoning(self.text, known=self._known)) is not None:
            self._take(worked, "reasoning")
        if given and (held := out_of_object(self.text, given=given, task=task)) is not None:
            self._take(held, "a JSON object around the text")

    def _turn(self) -> None:
        if not _TURN.search(self._known) and (label := _ANSWERING.match(self.text)):
            self._take(self.text[label.end() :], "the name of a speaker")

    def _fence(self) -> None:
        fenced = _FENCED.fullmatch(self.text.strip())
        if fenced is None or self._source.text.lstrip().startswith(_FENCE):
            return
        is_one = not any(mark in fenced["text"] for mark in _FENCE)
        if is_one or (fenced["name"] and fenced["end"]):
            self._take(fenced["text"], "a fence around the text")

    def _quotes(self) -> None:
        quoted = _QUOTED.match(self.text.strip())
        source = self._source
        if quoted is None or not source.text or "\n\n" in quoted[1]:
            return
        if not any(mark in source.known for mark in '"“”') and not _ABOUT_QUOTES.search(
            source.task
        ):
            self._take(quoted[1], "quotation marks around the text")

    def _copies(self) -> None:
        if single(self._source.text) == self._source.text:
            self._take(single(self.text), "copies of the text")

    # Marks of the prompt.

    def _marks(self) -> None:
        if MARK.search(self._known):
            return
        pattern = self._any_mark()
        if pattern.search(self.text) is None:
            return
        outside, framed = self._segments(pattern)
        given = self._source.text
        texts = [part for part in framed if not same(part, given)]
        texts = list({"".join(part.split()): part for part in texts}.values())
        spoken = [
            part
            for part in outside
            if part.strip("`~ \t\r\n")
            and any(kind == "text" for kind, _ in lines_of(part, self._source))
        ]
        if len(texts) == 1 and not spoken:
            self._take(texts[0], "marks of the prompt")
        elif not texts and len(spoken) == 1:
            self._take(spoken[0], "marks of the prompt")
        elif not texts and not spoken and framed:
            self._take(framed[0], "marks of the prompt")
        elif texts or spoken:
            raise Unfit("it holds marks of the prompt, and where the text is cannot be told")
        else:
            raise Unfit("it repeats the prompt")

    def _any_mark(self) -> re.Pattern[str]:
        """Marks with an id, and without one where the given words have no tag of that name."""
        names = (re.escape(x) for x in self._source.labels if not self._has_tag(x))
        bare = "|".join(names)
        if not bare:
            return MARK
        return re.compile(rf"{MARK.pattern}|<(?P<stop>/?) ?(?P<name>{bare}) ?/?>", re.IGNORECASE)

    def _has_tag(self, name: str) -> bool:
        known = self._known.casefold()
        return f"<{name}" in known or f"</{name}" in known

    def _segments(self, pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
        """The stretches outside of any frame, and those in frames of the text.

        What is in other frames is left out when they are closed.
        """
        outside: list[str] = []
        framed: list[str] = []
        marks = list(pattern.finditer(self.text))
        bounds = [0, *(m.end() for m in marks)], [*(m.start() for m in marks), len(self.text)]
        stretches = [self.text[a:b] for a, b in zip(*bounds, strict=True)]
        inside = ""
        for n, stretch in enumerate(stretches):
            if n:
                mark = marks[n - 1].groupdict()
                label = (mark["label"] or mark.get("name") or "").casefold()
                inside = "" if mark["end"] or mark.get("stop") else label
            following = marks[n].groupdict() if n < len(marks) else {}
            closes = bool(following.get("end") or following.get("stop"))
            before_text = closes and (following["label"] or following.get("name")) == "text"
            if not stretch.strip():
                continue
            if inside == "text" or (not inside and n == 0 and before_text and len(marks) == 1):
                framed.append(stretch)
            elif not (inside and closes):
                outside.append(stretch)
        return outside, framed

    # Lines of the prompt and remarks.

    def _around(self) -> None:
        """Take off the lines before and after the text that are not of it."""
        text = self.text.strip()
        if cut := self._source.remarks.preface(text):
            self._take(text[cut:], "a chat preface")
        lines = list(lines_of(self.text, self._source))
        kinds = [kind for kind, _ in lines]
        if "text" not in kinds:
            if len(text) >= _SHORTEST_REMARK:
                echo = "it repeats the prompt" if "echo" in kinds else "it talks about the text"
                raise Unfit(f"{echo} in place of writing it")
            return
        first, last = kinds.index("text"), len(kinds) - kinds[::-1].index("text")
        kept = "".join(line for _, line in lines[first:last])
        if splits_list(lines, first, last):
            raise Unfit("it talks about the text, and where the text is cannot be told")
        for part, name in ((lines[:first], "before"), (lines[last:], "after")):
            told = {kind for kind, line in part if line.strip()}
            if "remark" in told:
                self._take(kept, "a chat preface" if name == "before" else "a closing remark")
                self.done.append("a chat preface" if name == "before" else "a closing remark")
            if "echo" in told:
                self.done.append("an echo of the prompt")
        if first or last < len(lines):
            self.text = kept
        self._last_words()

    def _last_words(self) -> None:
        """Take remarks off the end of the last line."""
        text = self.text.rstrip()
        start = text.rfind("\n") + 1
        line = text[start:]
        if line.lstrip().startswith("|") or len(line) > LONGEST_REMARK:
            return
        end = self._source.remarks.tail(line, letter=is_letter(self.text))
        if 0 < end < len(line):
            self._take(text[: start + end].rstrip(), "a closing remark")
