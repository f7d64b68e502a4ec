"""What a version of a text says otherwise than the original: measured, not judged."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from typing import Literal

from rapidfuzz.distance import DamerauLevenshtein

from sifaka._internal.immutable import Frozen
from sifaka.text.function_words import FUNCTION_WORDS
from sifaka.text.language import asks_for_translation, tell_language, translation_into
from sifaka.text.limits import limit_spans, outside_scope
from sifaka.text.prose import blanked, sentence_spans
from sifaka.text.statements import READ_LANGUAGES, Statement, is_same, read, words_of
from sifaka.text.structured import Path, comparable, values_of

Kind = Literal[
    "number", "date", "money", "url", "code", "quote", "name", "language", "order", "scope",
    "length", "data", "dropped", "added", "small_edit", "not_entered",
]  # fmt: skip
SHOWN = 80
"""Characters of a difference that are shown of each side."""


class Difference(Frozen):
    """One thing that a version says otherwise than its original."""

    id: str
    """`d1` and so on, in the order of the list."""
    kind: Kind
    before: str = ""
    """Verbatim; empty of what is new."""
    after: str = ""
    """Verbatim; empty of what is lost."""
    status: Literal["open", "covered", "accepted", "refused", "noted"] = "open"
    """`noted` does not ask: it stands in the ledger."""
    by: str = ""
    """What answered it: `task`, `source`, `rule`, `arithmetic`, or who."""
    reason: str = ""


class Comparison(Frozen):
    """The differences between two texts."""

    differences: tuple[Difference, ...]
    """The open ones, the covered ones and the noted ones."""
    kept: int
    """Statements of the original that the version has too."""
    total: int
    """Statements of the original."""


@dataclass(frozen=True, slots=True)
class _Change:
    kind: Kind
    before: str
    after: str
    asks: bool = True
    lost: Statement | None = None
    new: Statement | None = None
    unlike: bool = False
    """True where the new one stands in a sentence without a counterpart."""


def compare(
    original: str,
    version: str,
    *,
    task: str = "",
    sources: Sequence[str] = (),
    failing: Sequence[str] = (),
) -> Comparison:
    """The differences between an original and a version of it, and which of them are answered.

    Args:
        original: The text that was to be changed.
        version: What became of it.
        task: What was asked for.
        sources: Texts that may say what is new.
        failing: Quotes of the original at which a required rule fails.
    """
    data, other = values_of(original), values_of(version)
    # Where few paths are the same the data has another shape: what it says is read as in prose.
    if data and other and 2 * len(data.keys() & other.keys()) > len(data):
        changes = list(_data_changes(data, other))
        total, kept = len(data), len(data) - sum(bool(change.before) for change in changes)
    else:
        sides = _Side(original, data=data is not None), _Side(version, data=other is not None)
        prose = _Prose(*sides, _Side(task).vocabulary)
        changes = list(prose.changes())
        total = len(prose.old.statements)
        kept = total - sum(change.lost is not None for change in changes)
        changes += _not_entered(task, prose.old, prose.new)
    changes += (_Change("scope", *each) for each in outside_scope(task, original, version))
    places = [(original.find(each), len(each)) for each in failing if each]
    answers = _Answers(task, sources, places, changes, _Side(original))
    listed = list(dict.fromkeys(_answered(change, answers) for change in changes))
    listed.sort(key=lambda each: ("open", "covered", "noted").index(each.status))
    numbered = (each.model_copy(update={"id": f"d{n}"}) for n, each in enumerate(listed, 1))
    return Comparison(differences=tuple(numbered), kept=kept, total=total)


def _answered(change: _Change, answers: "_Answers") -> Difference:
    by = answers.answer(change) if change.asks else ""
    status = "covered" if by else "open" if change.asks else "noted"
    before, after = (
        line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
        for line in (" ".join(each.split()) for each in (change.before, change.after))
    )
    return Difference(id="", kind=change.kind, before=before, after=after, status=status, by=by)


# --- the sentences of both sides ---

_STEM = 5
"""Letters by which the forms of one word are told."""
_SIGN = r"[\u3041-\u30ff\u3400-\u9fff]"
_WORD = re.compile(rf"{_SIGN}|(?:(?!{_SIGN})[^\W_])+")
_EMPTY = frozenset(w for code in READ_LANGUAGES for w in FUNCTION_WORDS[code].split())
_NEAREST = 40
"""Sentences that are looked at for one word of a sentence."""
_MOST = 400
"""Statements that one is compared with, one by one."""
_FIGURES = frozenset({"number", "date", "money"})
_LEAST_EVIDENCE = 0.2
"""Below it a list of names would have a language."""
_COUNTS = frozenset(map(str, range(13)))
"""Bare numbers that may count what is listed anyway."""


def _words(text: str) -> list[str]:
    return _WORD.findall(words_of(text))


def _stems(text: str) -> frozenset[str]:
    """The stems of the words that say something; of all words where none does."""
    words = _words(text)
    full = frozenset(w[:_STEM] for w in words if w not in _EMPTY)
    return full or frozenset(w[:_STEM] for w in words)


class _Side:
    """One of the texts."""

    def __init__(self, text: str, *, data: bool = False) -> None:
        self.text = text
        # In data quotation marks say where a string is.
        self.statements = tuple(s for s in read(text) if not (data and s.kind == "quote"))
        self.heard = f" {words_of(text)} "
        self.vocabulary = frozenset(_words(text))
        self.digits = frozenset(re.findall(r"\d+", text))
        self._readings = frozenset(r for s in self.statements for r in s.readings)
        self._figures = frozenset(f for s in self.statements for f in s.figures)
        self._bare = frozenset(
            f for s in self.statements if s.is_bare and s.kind != "name" for f in s.figures
        )
        distinct = {s.value: s for s in self.statements if re.search("[-~ ]", s.value)}
        self._distinct = list(distinct.values())[:_MOST]
        self._around: dict[int, frozenset[str]] = {}
        self.plain = blanked(
            text, [(s.start, s.end) for s in self.statements if s.kind not in ("quote", "name")]
        )

    @cached_property
    def prose(self) -> str:
        """The text without code and addresses; its places stay."""
        literal = [(s.start, s.end) for s in self.statements if s.kind in ("code", "url")]
        return blanked(self.text, literal)

    @cached_property
    def language(self) -> str | None:
        told = tell_language(re.sub(r"<[^<>]{0,300}>|[*_#|`]", " ", self.prose))
        sure = told.confidence >= 0.4 and told.scores[0][1] >= _LEAST_EVIDENCE
        return told.language if sure else None

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return list(sentence_spans(self.prose)) or [(0, len(self.text))]

    @cached_property
    def sentences(self) -> list[str]:
        return [self.text[start:end] for start, end in self._spans]

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each sentence, without its figures."""
        return [_words(self.plain[start:end]) for start, end in self._spans]

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        return [_stems(self.plain[start:end]) for start, end in self._spans]

    @cached_property
    def stated(self) -> dict[int, list[Statement]]:
        """The statements by the number of their sentence."""
        found: dict[int, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            found[self.sentence_of(statement)].append(statement)
        return found

    def sentence_of(self, statement: Statement) -> int:
        """The number of the sentence that a statement stands in."""
        return max(0, bisect_right(self._spans, (statement.start, len(self.text))) - 1)

    def around(self, statement: Statement) -> frozenset[str]:
        """The stems of the words near a statement."""
        if statement.start not in self._around:
            near = self.plain[max(0, statement.start - 50) : statement.end + 50]
            self._around[statement.start] = _stems(near) - _EMPTY
        return self._around[statement.start]

    def has(self, statement: Statement, *, exact: bool = False) -> bool:
        """True when this text has a statement that says the same.

        Args:
            statement: One of another text.
            exact: Whether a bare number is too little to say a date.
        """
        bare_number = statement.is_bare and statement.kind != "name"
        figures = self._figures if bare_number else self._bare
        if exact and statement.kind == "date":
            figures = frozenset[str]()
        if statement.readings & self._readings or statement.figures & figures:
            return True
        if statement.kind in ("code", "url"):
            return statement.value in self.text
        if statement.kind == "quote":
            return f" {statement.value} " in self.heard
        if statement.kind == "name":
            return self._has_name(statement)
        if statement.is_bare and not statement.weak:
            return False
        spelled = not re.search(r"\d", statement.text) and _words(statement.text)
        return bool(spelled and self.vocabulary.issuperset(spelled)) or any(
            is_same(statement, each) for each in self._distinct
        )

    def _has_name(self, name: Statement) -> bool:
        """True when all words of a name stand here, or its initials, or what it is short for."""
        words = [word for word in name.value.split() if word not in _EMPTY]
        short = "".join(word[0] for word in words)
        letters = re.sub(r"(\w)\w*\W+", r"\1", self.heard[1:]) if name.weak else ""
        return bool(
            all({w, f"{w}s", w.removesuffix("s")} & self.vocabulary for w in words)
            or (len(words) > 1 and short in self.vocabulary)
            or (len(name.value) > 2 and name.value in letters)
            or (re.search(r"\d", name.value) and name.value in self.heard.replace(" ", ""))
        )

    def has_digits(self, statement: Statement) -> bool:
        """True when all digits of a statement stand here, in whatever notation."""
        runs = re.findall(r"\d+", statement.text)
        return bool(runs) and self.digits.issuperset(runs)


def _nearest(side: _Side, other: _Side) -> list[list[int]]:
    """For each sentence of a side the three of the other that share most with it."""
    rate = len(other.stems) / len(side.stems)
    postings: dict[str, list[int]] = defaultdict(list)
    for number, stems in enumerate(other.stems):
        for stem in stems:
            postings[stem].append(number)
    found: list[list[int]] = []
    for number, stems in enumerate(side.stems):
        scores: Counter[int] = Counter()
        for listed in filter(None, map(postings.get, stems)):
            first = max(0, bisect_left(listed, int(number * rate)) - _NEAREST // 2)
            scores.update(listed[first : first + _NEAREST])
        ranks = {
            j: (-score / (len(stems) + len(other.stems[j])), abs(j - number * rate))
            for j, score in scores.items()
        }
        found.append(sorted(ranks, key=ranks.__getitem__)[:3])
    return found


def _coverage(side: _Side, other: _Side, nearest: Sequence[Sequence[int]]) -> list[float]:
    """The share of the words of each sentence that stand in those nearest to it."""
    return [
        len(stems & frozenset[str]().union(*(other.stems[j] for j in near))) / max(1, len(stems))
        for stems, near in zip(side.stems, nearest, strict=True)
    ]


# --- prose ---

_GONE, _STAYS, _NEARLY = 0.34, 0.6, 0.7
"""Shares of a sentence's words: below, it has no counterpart; from, it stays; nearly as it was."""
_ALIKE = 0.85
_SHORTER = 0.6
"""The share of the words below which a version leaves out on purpose: what is lost is listed."""
_PROOFS = frozenset(["only", "nur", "uniquement", "solo", "proofread", "spelling", "typo", "typos"])
"""Words of a task by which larger edits of a sentence are told too."""
_WHOLE = re.compile(r"[.!?。！？][\"”’)*_]{0,5}\s*\Z")


class _Prose:
    """Two texts, sentence by sentence."""

    def __init__(self, old: _Side, new: _Side, asked: frozenset[str]) -> None:
        self.old, self.new = old, new
        self.asked = frozenset(word[:_STEM] for word in asked - _EMPTY)
        self.most = 40 if asked & _PROOFS else 2
        languages = {old.language, new.language}
        shared = frozenset[str]().union(*new.stems) & frozenset[str]().union(*old.stems)
        foreign = 2 * len(shared) < len(frozenset[str]().union(*new.stems))
        self.translated = len(languages) == 2 and None not in languages and foreign
        self.forward, self.backward = _nearest(old, new), _nearest(new, old)
        self.covered = _coverage(old, new, self.forward)
        self.known = _coverage(new, old, self.backward)
        sizes = [sum(map(len, side.words)) for side in (new, old)]
        self.shorter = sizes[0] < _SHORTER * sizes[1]
        self.lost = [s for s in old.statements if not new.has(s)]
        self.fresh = [s for s in new.statements if not old.has(s)]

    def changes(self) -> Iterator[_Change]:
        """What differs, the statements first."""
        if self.translated:
            yield _Change("language", _told(self.old), _told(self.new))
        for gone, came in self._exchanged.items():
            yield _Change(gone.kind, gone.text, came.text, True, gone, came)
        if not self.translated:
            yield from (_Change("order", *each) for each in _crossed_places(self.old, self.new))
        pairs = self._pairs()
        for n, lost in enumerate(self.lost):
            new = self.fresh[pairs[n]] if n in pairs else None
            short = new and lost.kind == "name" and _is_short_for(lost.value, new.value)
            if short or lost in self._exchanged:
                continue
            asks = self._asks_when_changed(lost, new) if new else self._asks_when_lost(lost)
            yield _Change(lost.kind, lost.text, new.text if new else "", asks, lost, new)
        taken = frozenset(pairs.values())
        put = frozenset(self._exchanged.values())
        for n, new in enumerate(self.fresh):
            if n not in taken and new not in put:
                unlike = self.known[self.new.sentence_of(new)] < _STAYS
                asks = self._asks_when_new(new)
                yield _Change(new.kind, "", new.text, asks, new=new, unlike=unlike)
        if not self.translated:
            yield from self._sentences()

    def _asks_when_changed(self, lost: Statement, new: Statement) -> bool:
        return not (self.new.has_digits(lost) and self.old.has_digits(new))

    def _asks_when_lost(self, lost: Statement) -> bool:
        counts = lost.is_bare and lost.figures <= _COUNTS
        named = lost.kind in ("name", "number")
        quiet = named or counts or self.shorter or lost.weak or self.new.has_digits(lost)
        stays = self.translated or self.covered[self.old.sentence_of(lost)] >= _STAYS
        return stays and not quiet

    def _asks_when_new(self, new: Statement) -> bool:
        quiet = new.weak or self.old.has_digits(new)
        loose = new.kind == "quote" and len(new.value.split()) < 3
        foreign = new.kind == "name" and self.translated and not new.figures
        return not (quiet or loose or foreign)

    def _pairs(self) -> dict[int, int]:
        """Which of the new statements stands where which of the lost ones stood."""
        places: dict[int, list[int]] = defaultdict(list)
        for m, new in enumerate(self.fresh):
            places[self.new.sentence_of(new)].append(m)
        scored: list[tuple[float, int, int]] = []
        for n, lost in enumerate(self.lost):
            middle = n * len(self.fresh) // len(self.lost)
            near = range(max(0, middle - 20), min(len(self.fresh), middle + 20))
            if lost.kind in _FIGURES | {"name"} and not self.translated:
                sentences = self.forward[self.old.sentence_of(lost)]
                near = [m for number in sentences for m in places.get(number, ())[:20]]
            scored += ((self._score(lost, self.fresh[m]), -n, -m) for m in near)
        found: dict[int, int] = {}
        taken: set[int] = set()
        for score, n, m in sorted(scored, reverse=True):
            if score > 0 and -n not in found and m not in taken:
                found[-n] = -m
                taken.add(m)
        return found

    def _score(self, lost: Statement, new: Statement) -> float:
        """How surely one took the place of the other; 0 where it did not."""
        same = lost.kind == new.kind
        foreign = self.translated and lost.kind == "name"
        if foreign or (not same and not {lost.kind, new.kind} <= _FIGURES):
            return 0
        if lost.kind in ("quote", "code", "url"):
            return len(_stems(lost.text) & _stems(new.text)) + (lost.kind == "url")
        shared = len(self.old.around(lost) & self.new.around(new))
        if lost.kind == "name":
            close = _is_close(lost.value, new.value) or _is_short_for(lost.value, new.value)
            sure = shared > 1 and not (lost.weak or new.weak or "#" in lost.text + new.text)
            return shared + 4 * close if close or sure else 0
        alike = _form(lost) == _form(new)
        if self.translated:
            return 2 * (same and alike)
        apart = (lost.weak or new.weak) and not alike
        return 0 if apart or not (alike or shared > 1) else shared + 2 * same + 2 * alike

    def _sentences(self) -> Iterator[_Change]:
        """What became of whole sentences."""
        old, new = self.old, self.new
        for sentence, stems, share in zip(old.sentences, old.stems, self.covered, strict=True):
            if share < _GONE and len(stems) > 1:
                yield _Change("dropped", sentence, "", asks=False)
        stay = min(*self.covered, *(each for each in self.known if each >= _GONE), 1) >= _NEARLY
        for sentence, stems, share in zip(new.sentences, new.stems, self.known, strict=True):
            if share < _GONE and len(stems) > 2:
                whole = bool(_WHOLE.search(sentence)) and len(stems) > 3
                yield _Change("added", "", sentence, whole and stay, unlike=True)
        for number, near in enumerate(self.forward):
            if near and number in self.backward[near[0]][:1]:
                yield from self._edits(number, near[0])

    def _edits(self, number: int, other: int) -> Iterator[_Change]:
        """What differs in two sentences that are nearly the same."""
        a, b = self.old.words[number], self.new.words[other]
        one, two = (Counter(word[:_STEM] for word in words) for words in (a, b))
        gone, came = one - two, two - one
        size = max(gone.total(), came.total())
        sentences = self.old.sentences[number], self.new.sentences[other]
        told = any(s in self._exchanged for s in self.old.stated[number])
        if size <= (1 - _ALIKE) * max(len(a), len(b)) and _crossed(*sentences):
            yield _Change("order", *sentences)
        elif 0 < size <= self.most and len(a) > 2 and not (told or self._is_told(gone, came)):
            yield _Change("small_edit", *_around_edit(a, b), asks=False)

    @cached_property
    def _exchanged(self) -> dict[Statement, Statement]:
        """The statements of which another one has the place, in a sentence that stays.

        One of the two at least stands elsewhere in the other text too, so that texts as a whole
        say nothing of it.
        """
        found: dict[Statement, Statement] = {}
        for number, near in enumerate(() if self.translated else self.forward):
            if near and number in self.backward[near[0]][:1]:
                mine, theirs = self.old.stated[number], self.new.stated[near[0]]
                gone = [s for s in mine if not any(_is_alike(s, t) for t in theirs)]
                came = [t for t in theirs if not any(_is_alike(s, t) for s in mine)]
                if len(gone) == len(came) == 1 and self._is_exchange(number, gone[0], came[0]):
                    found[gone[0]] = came[0]
        return found

    def _is_exchange(self, number: int, gone: Statement, came: Statement) -> bool:
        known = gone in self._differing and came in self._differing
        if known or gone.weak or came.weak or gone.kind != came.kind:
            return False
        words = self.old.words[number], self.new.words[self.forward[number][0]]
        one, two = (Counter(word[:_STEM] for word in each) for each in words)
        nearly = max((one - two).total(), (two - one).total()) <= 2 < len(words[0])
        return nearly or (gone.kind in _FIGURES and _form(gone) == _form(came) != "")

    def _is_told(self, gone: Iterable[str], came: Iterable[str]) -> bool:
        """True of another spelling, of a name that is listed anyway, and of words of the task."""
        return _is_spelling([*gone], [*came]) or all(
            word in self._listed or (came and word in self.asked) for word in (*gone, *came)
        )

    @cached_property
    def _differing(self) -> frozenset[Statement]:
        return frozenset((*self.lost, *self.fresh))

    @cached_property
    def _listed(self) -> frozenset[str]:
        """The stems of what is lost and new."""
        return frozenset(w[:_STEM] for each in self._differing for w in _words(each.text))


def _form(statement: Statement) -> str:
    """What a figure is of: a unit, a currency, a time or a date; empty of a bare number."""
    return re.sub(r"[^a-zT%°]", "", statement.value.split("|")[0]) or (
        "date" if statement.kind == "date" else ""
    )


def _told(side: _Side) -> str:
    """The language of a text, with its first words."""
    name = _LANGUAGE_NAMES.get(side.language or "", side.language or "")
    return f"{name} ({' '.join(side.text.split()[:3])}…)"


_LANGUAGE_NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch", "pl": "Polish", "ru": "Russian", "ja": "Japanese",
    "zh": "Chinese", "ko": "Korean",
}  # fmt: skip


def _is_close(one: str, other: str) -> bool:
    """True of two spellings that differ by a letter or two."""
    limit = max(1, min(len(one), len(other)) // 5)
    return DamerauLevenshtein.distance(one, other, score_cutoff=limit) <= limit


def _is_short_for(one: str, other: str) -> bool:
    """True of two names of which one abbreviates the other by words: `High Rd`, `High Road`."""
    words = sorted((one.split(), other.split()), key=lambda each: len("".join(each)))
    return len(words[0]) == len(words[1]) and all(
        a == b or (len(a) > 1 and a[0] == b[0] and _is_within(a, b))
        for a, b in zip(*words, strict=True)
    )


def _is_within(short: str, long: str) -> bool:
    """True when the letters of one word stand in another, in their order."""
    letters = iter(long)
    return all(letter in letters for letter in short)


def _is_alike(one: Statement, other: Statement) -> bool:
    """True when two statements of sentences that stand for one another may say the same."""
    within = one.value in other.value or other.value in one.value
    return within or bool(one.figures & other.figures) or is_same(one, other)


def _is_spelling(gone: Sequence[str], came: Sequence[str]) -> bool:
    """True when each word became one that differs by a letter or so."""
    pairs = zip(gone, came, strict=False)
    return len(gone) == len(came) and all(len(a) > 3 and _is_close(a, b) for a, b in pairs)


def _around_edit(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Both sentences, shortened to what differs and a word on each side."""
    codes = SequenceMatcher(None, a[:80], b[:80], autojunk=False).get_opcodes()
    pieces = [
        (" ".join(a[max(0, i - 1) : j + 2]), " ".join(b[max(0, k - 1) : m + 2]))
        for tag, i, j, k, m in codes
        if tag != "equal"
    ]
    before, after = (
        re.sub(rf"(?<={_SIGN}) (?={_SIGN})", "", " … ".join(each))
        for each in zip(*pieces or [("", "")], strict=True)
    )
    return before, after


def _crossed_places(old: _Side, new: _Side) -> Iterator[tuple[str, str]]:
    """Two names or figures, each beside what the other one stood beside.

    Looked at is the nearest word or statement in their line, before them or behind, that both
    texts have once.
    """
    known, listed = {_key(s): s for s in old.statements}, set[str]()
    first, second = _once(old), _once(new)
    kept = ([key for key in first if key in second], [key for key in second if key in first])
    for step in (1, -1):
        was, stands = (
            {b: a for a, b in pairwise(keys[::step]) if lines[a] == lines[b]}
            for keys, lines in zip(kept, (first, second), strict=True)
        )
        at = {(was[key], stands[key]): key for key in was.keys() & stands.keys() & known.keys()}
        for (one, two), key in at.items():
            other = at.get((two, one), key)
            mine, its = known[key], known[other]
            if key < other and (mine.kind, _form(mine)) == (its.kind, _form(its)):
                if listed.isdisjoint((one, two)):
                    yield mine.text, its.text
                listed |= {key, other}


def _once(side: _Side) -> dict[str, int]:
    """The statements and the stems of the words that a text has once, in order, and their lines."""
    stated = [(s.start, _key(s)) for s in side.statements if s.kind != "quote"]
    rest = blanked(side.text, [(s.start, s.end) for s in side.statements if s.kind != "quote"])
    words = [(m.start(), m.group().casefold()) for m in _WORD.finditer(rest)]
    told = sorted([*stated, *((at, w[:_STEM]) for at, w in words if w not in _EMPTY)])
    counts = Counter(key for _, key in told)
    ends = [m.start() for m in re.finditer("\n", side.text)]
    return {key: bisect_left(ends, at) for at, key in told if counts[key] == 1}


def _key(statement: Statement) -> str:
    return f"={statement.kind} {statement.value}"


_PLACED = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")
_MOVABLE = 12
"""Names and figures of a sentence whose order is looked at."""


def _crossed(one: str, other: str) -> bool:
    """True when two names or figures of a sentence changed places, and what is around did not."""
    first, second = _neighbours(one), _neighbours(other)

    def fits(x: str, y: str) -> int:
        return sum(a == b for a, b in zip(first[x], second[y], strict=True))

    both = [word for word in first if word in second][:_MOVABLE]
    return any(
        fits(x, y) > fits(x, x) and fits(y, x) > fits(y, y) for x, y in combinations(both, 2)
    )


def _neighbours(sentence: str) -> dict[str, tuple[str, ...]]:
    """The names and figures that stand once in a sentence, each with the words around it."""
    tokens = _PLACED.findall(sentence[:2000])
    counts = Counter(token.lower() for token in tokens)
    movable = [
        token[0].isdigit() or (token[0].isupper() and token.lower() not in _EMPTY)
        for token in tokens
    ]
    plain = [
        "",
        *(token.lower() for token, moves in zip(tokens, movable, strict=True) if not moves),
    ]
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    for token, moves in zip(tokens, movable, strict=True):
        at += not moves
        if moves and counts[token.lower()] == 1:
            found[token.lower()] = tuple([*plain, "", ""][at : at + 3])
    return found


# --- data ---


def _data_changes(data: Mapping[Path, str], other: Mapping[Path, str]) -> Iterator[_Change]:
    """The values that differ, each with its key."""
    if len(data.keys() & other.keys()) < 0.5 * min(len(data), len(other)):
        data, other = ({path[-2:]: value for path, value in each.items()} for each in (data, other))
    for path in dict.fromkeys((*data, *other)):
        before, after = (
            f"{' '.join(path)}: {each[path]}" if path in each else "" for each in (data, other)
        )
        if comparable(data.get(path, "")) != comparable(other.get(path, "")):
            yield _Change("data", before, after)


# --- answers ---


def _not_entered(task: str, old: _Side, new: _Side) -> Iterator[_Change]:
    """The figures and addresses of the task that stand in neither text."""
    for asked in read(blanked(task, limit_spans(task))):
        figure = asked.kind in _FIGURES | {"url"} and re.search(r"\d", asked.text)
        if figure and not (old.has(asked) or new.has(asked) or new.has_digits(asked)):
            yield _Change("not_entered", asked.text, "", asks=False)


_VERBS = """
    change update correct fix replace move raise lower increase reduce round convert remove delete
    drop adjust set swap rename use fill postpone shift add sound shorten
    ändere aktualisiere korrigiere ersetze verschiebe erhöhe senke runde entferne lösche streiche
    ergänze change modifie corrige remplace déplace augmente baisse supprime enlève ajoute
    cambia actualiza corrige reemplaza mueve aumenta baja elimina quita añade
"""
_KIND_WORDS: Mapping[str, str] = {
    "date": "date time day weekday deadline year datum termin uhrzeit heure jour fecha hora día",
    "money": "price cost amount total preis betrag summe prix precio",
    "number": "number figure arithmetic total summe zahl chiffre cifra número",
    "url": "link url address lien enlace",
    "code": "code snippet",
    "quote": "quote quotation dialogue zitat citation cita",
    "name": "name spelling proofread typo",
    "example": "example beispiel exemple ejemplo",
    "added": "title headline heading hashtag sentence paragraph",
}
"""With the verbs the only words that are taken for a meaning; they may lower a question."""


class _Answers:
    """What answers a difference without asking."""

    def __init__(
        self,
        task: str,
        sources: Sequence[str],
        failing: Sequence[tuple[int, int]],
        changes: Sequence[_Change],
        original: _Side,
    ) -> None:
        self._task, self._failing = _Side(task), failing
        self._original = original
        entered = [change for change in changes if change.new and self._task.has(change.new)]
        self._entered = bool(entered)
        self._steps = {_step(change) for change in entered} - {None}
        self._sources = [_Side(source) for source in sources]
        self._asked = _asked_kinds(task)

    def answer(self, change: _Change) -> str:
        """`task`, `source`, `rule`, `arithmetic`, or nothing."""
        lost, new = change.lost, change.new
        if self._is_asked(change, lost, new) or _step(change) in self._steps:
            return "task"
        if new and not lost and _is_worked_out(new, self._original):
            return "arithmetic"
        if lost and any(0 <= at <= lost.start and lost.end <= at + n for at, n in self._failing):
            return "rule"
        return "source" if new and any(source.has(new) for source in self._sources) else ""

    def _is_asked(self, change: _Change, lost: Statement | None, new: Statement | None) -> bool:
        vocabulary = self._task.vocabulary
        if change.kind == "language":
            targets = translation_into(f"translate {self._task.text}") or ()
            names = [_LANGUAGE_NAMES.get(code, code) for code in targets]
            wanted = not names or change.after.split(" (")[0] in names
            return asks_for_translation(self._task.text) and wanted
        came = frozenset(_words(change.after)) - frozenset(_words(change.before))
        said = bool(came and came <= vocabulary)
        if change.kind == "data":
            label = frozenset(_words((change.before or change.after).partition(":")[0]))
            return said or bool(label & vocabulary - _EMPTY and "" in self._asked)
        # Step 3, where the task speaks of steps.
        label = new.value[:4] if new and new.kind == "name" and new.figures else "\0"
        close = change.kind != "name" or (lost and new and _is_close(lost.value, new.value))
        return bool(
            (new and self._task.has(new, exact=True))
            or (said and lost)
            or label in self._task.text
            or (lost and self._task.has(lost) and ("" in self._asked or self._entered))
            or ((change.unlike or change.kind == "code") and "example" in self._asked)
            or (not lost and change.kind in _FIGURES and "total" in self._asked)
            or (change.kind in self._asked and close)
        )


_PRIVATE = {"name", "date", "number", "url"}
"""The kinds that are left out where a text is made anonymous."""


def _amount(statement: Statement) -> float | None:
    """The figure in its unit, a time in seconds; None of what has several readings."""
    value, _, unit = statement.value.partition(" ")
    if clock := re.fullmatch(r"T(\d\d):(\d\d)", statement.value):
        return 3600.0 * int(clock[1]) + 60 * int(clock[2])
    figure = statement.kind in ("number", "money") and re.fullmatch(r"\d+(?:\.\d+)?", value)
    return float(value) if figure and "|" not in unit else None


def _step(change: _Change) -> tuple[str, float] | None:
    """By what a figure was changed: its factor, or the seconds of a time."""
    lost, new = (each and _amount(each) for each in (change.lost, change.new))
    if not lost or not new or not change.lost or not change.new:
        return None
    if change.lost.value.startswith("T") != change.new.value.startswith("T"):
        return None
    by_time = change.new.value.startswith("T")
    return ("+", new - lost) if by_time else ("*", round(new / lost, 6))


_MOST_ADDED = 60
"""Figures of one form among which sums are looked for."""


def _is_worked_out(new: Statement, old: _Side) -> bool:
    """True when a new figure is a sum or a difference of others, or the time between two."""
    amount, form = _amount(new), _form(new)
    stated = [(_amount(s), _form(s)) for s in old.statements[: 10 * _MOST_ADDED]]
    mine = [each for each, of in stated if each and of == form][:_MOST_ADDED]
    clock = [each for each, of in stated if each and of == "T" and form == "s"][:_MOST_ADDED]
    few = len(re.sub(r"\D", "", new.text).strip("0")) < 3
    if amount is None or form == "T":
        return False
    sums = [0.0, *accumulate(mine)]
    made = {abs(a - b) for a, b in combinations(clock, 2)}
    if not few:
        made |= {abs(a - b) for a, b in combinations(mine, 2)}
        made |= {a + b for a, b in combinations(mine, 2)}
        made |= {b - a for a, b in combinations(sums, 2)} - set(mine)
    return any(abs(amount - each) < 1e-6 * amount for each in made)


_CLAUSE = re.compile(r"[.;!?]+(?:\s|\Z)|\n|, (?=but|aber|mais|pero)")
_DENIED = re.compile(
    r"\b(?:not|never|no|without|nicht|kein\w*|ohne|ne|pas|sans|sin|keep)\b|n't\b", re.IGNORECASE
)


def _asked_kinds(task: str) -> frozenset[str]:
    """The kinds that a clause of the task asks to change, and "" where it has a verb of change."""
    kinds, denied, waiting = set[str](), set[str](), set[str]()
    for clause in _CLAUSE.split(task[:5000]):
        words = re.findall(r"[^\W\d_]+", clause.casefold())
        forms = {form for w in words for form in (w, w.removesuffix("s"), w.removesuffix("n"))}
        named = {kind for kind, listed in _KIND_WORDS.items() if forms & set(listed.split())}
        if _DENIED.search(clause):
            denied |= named
        elif forms & {"double", "triple", "halve"}:
            kinds |= {"", "number"}
        elif forms & set(_VERBS.split()):
            kinds |= {"", *named, *(waiting if forms & {"it", "them"} else ())}
        kinds |= {"name"} & named if forms & {"proofread", "spelling", "typo"} else set()
        kinds |= {"total"} & forms
        kinds |= _PRIVATE if forms & {"anonymise", "anonymize", "anonymisiere"} else set()
        waiting = named
    return frozenset(kinds - denied | (kinds & _PRIVATE if kinds >= _PRIVATE else set()))
