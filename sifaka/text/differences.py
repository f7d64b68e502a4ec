"""What a version of a text says otherwise than the original: measured, not judged."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from rapidfuzz.distance import DamerauLevenshtein

from sifaka._internal.immutable import Frozen
from sifaka.text.function_words import FUNCTION_WORDS
from sifaka.text.language import asks_for_translation, tell_language, translation_into
from sifaka.text.prose import Span, blanked, sentence_spans
from sifaka.text.statements import READ_LANGUAGES, Statement, is_same, read, words_of
from sifaka.text.structured import comparable, values_of

Kind = Literal[
    "number", "date", "money", "url", "code", "quote", "name", "language", "order", "scope",
    "length", "data", "dropped", "added", "small_edit",
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
    """What answered it: `task`, `source`, `rule`, or who."""
    reason: str = ""


class Comparison(Frozen):
    """The differences between two texts."""

    differences: tuple[Difference, ...]
    """The open ones, the covered ones and the noted ones."""
    kept: int
    """Statements of the original that the version has too."""
    total: int
    """Statements of the original."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    kind: Kind
    lost: Statement | None = None
    new: Statement | None = None
    before: str = ""
    after: str = ""
    asks: bool = True
    sentence: str = ""
    """Where the new one stands."""


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
    if data is not None and other is not None:
        changes, kept, total = _compare_data(data, other)
    else:
        found = _Prose(_Side(original), _Side(version))
        changes, kept, total = list(found.changes()), found.kept, len(found.old.statements)
    answers = _Answers(task, sources, _places(original, failing))
    rows: dict[str, list[Difference]] = {"open": [], "covered": [], "noted": []}
    seen: set[tuple[str, str, str]] = set()
    for change in changes:
        before = _short(change.lost.text if change.lost else change.before)
        after = _short(change.new.text if change.new else change.after)
        if (change.kind, before, after) in seen:
            continue
        seen.add((change.kind, before, after))
        by = answers.answer(change) if change.asks else ""
        status = "noted" if not change.asks else "covered" if by else "open"
        rows[status].append(
            Difference(id="d", kind=change.kind, before=before, after=after, status=status, by=by)
        )
    listed = [each for row in rows.values() for each in row]
    numbered = (each.model_copy(update={"id": f"d{n}"}) for n, each in enumerate(listed, 1))
    return Comparison(differences=tuple(numbered), kept=kept, total=total)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _places(text: str, quotes: Iterable[str]) -> list[Span]:
    found = ((text.find(quote), len(quote)) for quote in quotes if quote)
    return [(start, start + size) for start, size in found if start >= 0]


# --- the sentences of both sides ---

_STEM = 5
"""Letters by which the forms of one word are told."""
_WORD = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]|[^\W_\u3041-\u30ff\u3400-\u9fff]+")
_EMPTY = frozenset(w for code in READ_LANGUAGES for w in FUNCTION_WORDS[code].split())
_NEAREST = 40
"""Sentences that are looked at for one word of a sentence."""
_MOST = 400
"""Statements that one is compared with, one by one."""


def _words(text: str) -> list[str]:
    return _WORD.findall(words_of(text))


class _Side:
    """One of the two texts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.statements = read(text)
        literal = [(s.start, s.end) for s in self.statements if s.kind in ("code", "url")]
        figures = [(s.start, s.end) for s in self.statements if s.kind not in ("quote", "name")]
        self.prose = blanked(text, literal)
        self.plain = blanked(text, figures)
        self.spans = list(sentence_spans(self.prose))
        self._starts = [start for start, _ in self.spans]

    @cached_property
    def language(self) -> str | None:
        told = tell_language(re.sub(r"<[^<>]{0,300}>|[*_#|`]", " ", self.prose))
        return told.language if told.confidence >= 0.4 else None

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each sentence, without its figures."""
        return [_words(self.plain[start:end]) for start, end in self.spans]

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The stems of the words of each sentence that say something."""
        found: list[frozenset[str]] = []
        for words in self.words:
            full = frozenset(w[:_STEM] for w in words if w not in _EMPTY)
            found.append(full or frozenset(w[:_STEM] for w in words))
        return found

    @cached_property
    def postings(self) -> Mapping[str, list[int]]:
        """The numbers of the sentences that have a stem."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, stems in enumerate(self.stems):
            for stem in stems:
                found[stem].append(number)
        return found

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(_words(self.text))

    @cached_property
    def digits(self) -> frozenset[str]:
        return frozenset(re.findall(r"\d+", self.text))

    @cached_property
    def heard(self) -> str:
        return f" {words_of(self.text)} "

    @cached_property
    def initials(self) -> str:
        return "".join(word[0] for word in re.findall(r"[^\W\d_]+", self.text)).casefold()

    def sentence_at(self, place: int) -> int:
        return max(0, bisect_right(self._starts, place) - 1)

    def sentence(self, number: int) -> str:
        start, end = self.spans[number]
        return self.text[start:end]

    @cached_property
    def _readings(self) -> frozenset[str]:
        return frozenset(r for s in self.statements for r in s.readings)

    @cached_property
    def _figures(self) -> tuple[frozenset[str], frozenset[str]]:
        """All bare numbers, and those that stand without a unit."""
        everywhere = frozenset(f for s in self.statements for f in s.figures)
        return everywhere, frozenset(f for s in self.statements if s.is_bare for f in s.figures)

    @cached_property
    def _distinct(self) -> list[Statement]:
        found = {s.value: s for s in self.statements if s.kind in ("number", "date")}
        return list(found.values())[:_MOST]

    def has(self, statement: Statement) -> bool:
        """True when this text has a statement that says the same."""
        if statement.readings & self._readings:
            return True
        if statement.kind in ("code", "url"):
            return statement.value in (
                self.text if statement.kind == "code" else self.text.casefold()
            )
        if statement.kind == "quote":
            return f" {statement.value} " in self.heard
        everywhere, bare = self._figures
        if statement.figures & (everywhere if statement.is_bare else bare):
            return True
        if statement.kind == "name":
            return self._has_name(statement)
        if not any(c.isdigit() for c in statement.text) and self.vocabulary.issuperset(
            _words(statement.text)
        ):
            return True
        return any(is_same(statement, each) for each in self._distinct)

    def _has_name(self, name: Statement) -> bool:
        words = [word for word in name.value.split() if word not in _EMPTY]
        forms = {form for word in words for form in (word, word.removesuffix("s"), f"{word}s")}
        known = self.vocabulary & forms
        if all(known & {word, word.removesuffix("s"), f"{word}s"} for word in words):
            return True
        letters = "".join(words)
        if name.weak and len(letters) > 2 and letters in self.initials:
            return True
        return len(words) > 1 and "".join(word[0] for word in words) in self.vocabulary

    def has_digits(self, statement: Statement) -> bool:
        """True when all digits of a statement stand here, in whatever notation."""
        runs = re.findall(r"\d+", statement.text)
        return bool(runs) and self.digits.issuperset(runs)


def _nearest(side: _Side, other: _Side) -> list[list[int]]:
    """For each sentence of a side the three of the other that share most with it."""
    rate = len(other.spans) / max(1, len(side.spans))
    found: list[list[int]] = []
    for number, stems in enumerate(side.stems):
        scores: Counter[int] = Counter()
        for stem in stems:
            listed = other.postings.get(stem, [])
            middle = bisect_left(listed, int(number * rate))
            first = max(0, middle - _NEAREST // 2)
            scores.update(listed[first : first + _NEAREST])
        best = sorted(
            scores,
            key=lambda j: (
                -2 * scores[j] / (len(stems) + len(other.stems[j])), abs(j - number * rate)
            ),
        )  # fmt: skip
        found.append(best[:3])
    return found


def _coverage(side: _Side, other: _Side, nearest: Sequence[Sequence[int]]) -> list[float]:
    """The share of the words of each sentence that stand in those nearest to it."""
    found: list[float] = []
    for stems, near in zip(side.stems, nearest, strict=True):
        there = frozenset[str]().union(*(other.stems[j] for j in near))
        found.append(len(stems & there) / len(stems) if stems else 1.0)
    return found


# --- prose ---

_GONE, _STAYS, _NEARLY = 0.34, 0.6, 0.7
"""Shares of a sentence's words: below, it has no counterpart; from, it stays; nearly as it was."""
_ALIKE = 0.85
_FIGURES = frozenset({"number", "date", "money"})


class _Prose:
    """Two texts, sentence by sentence."""

    def __init__(self, old: _Side, new: _Side) -> None:
        self.old, self.new = old, new
        languages = old.language, new.language
        self.translated = None not in languages and languages[0] != languages[1]
        self.forward, self.backward = _nearest(old, new), _nearest(new, old)
        self.covered = _coverage(old, new, self.forward)
        self.known = _coverage(new, old, self.backward)
        self.lost = [s for s in old.statements if not new.has(s)]
        self.kept = len(old.statements) - len(self.lost)
        self.fresh = [s for s in new.statements if not old.has(s)]

    def changes(self) -> Iterator[_Change]:
        if self.translated:
            yield _Change(kind="language", before=_told(self.old), after=_told(self.new))
        pairs = dict(self._pairs())
        taken = set(pairs.values())
        for n, lost in enumerate(self.lost):
            new = self.fresh[pairs[n]] if n in pairs else None
            kind = new.kind if new and lost.kind not in _FIGURES else lost.kind
            asks = bool(new) or self._asks_when_lost(lost)
            yield _Change(kind=kind, lost=lost, new=new, asks=asks, sentence=self._sentence_of(new))
        for n, new in enumerate(self.fresh):
            if n not in taken:
                asks = self._asks_when_new(new)
                yield _Change(kind=new.kind, new=new, asks=asks, sentence=self._sentence_of(new))
        if not self.translated:
            yield from self._sentences()

    def _sentence_of(self, new: Statement | None) -> str:
        """The sentence of a new statement where the original has no counterpart of it."""
        if new is None or not self.new.spans:
            return ""
        number = self.new.sentence_at(new.start)
        return self.new.sentence(number) if self.known[number] < _STAYS else ""

    def _asks_when_lost(self, lost: Statement) -> bool:
        if lost.kind == "name" or lost.weak or self.new.has_digits(lost) or not self.old.spans:
            return False
        return self.translated or self.covered[self.old.sentence_at(lost.start)] >= _STAYS

    def _asks_when_new(self, new: Statement) -> bool:
        if new.weak or self.old.has_digits(new):
            return False
        if new.kind == "name":
            return not self.translated or bool(new.figures)
        return new.kind != "quote" or len(new.value.split()) > 2

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Which of the new statements stands where which of the lost ones stood."""
        places: dict[int, list[int]] = defaultdict(list)
        for n, new in enumerate(self.fresh):
            places[self.new.sentence_at(new.start)].append(n)
        scored: list[tuple[float, int, int]] = []
        for n, lost in enumerate(self.lost):
            for m in self._candidates(n, lost, places):
                score = self._score(lost, self.fresh[m])
                if score > 0:
                    scored.append((-score, n, m))
        used_old: set[int] = set()
        used_new: set[int] = set()
        for _, n, m in sorted(scored):
            if n not in used_old and m not in used_new:
                used_old.add(n)
                used_new.add(m)
                yield n, m

    def _candidates(
        self, n: int, lost: Statement, places: Mapping[int, Sequence[int]]
    ) -> Iterator[int]:
        if self.translated or not self.old.spans or lost.kind in ("quote", "code", "url"):
            middle = n * len(self.fresh) // max(1, len(self.lost))
            yield from range(max(0, middle - 20), min(len(self.fresh), middle + 20))
            return
        for number in self.forward[self.old.sentence_at(lost.start)]:
            yield from places.get(number, ())[:20]

    def _score(self, lost: Statement, new: Statement) -> float:
        """How surely one took the place of the other; 0 where it did not."""
        same = lost.kind == new.kind
        if not same and not (lost.kind in _FIGURES and new.kind in _FIGURES):
            return 0
        units = [each.value.split("|")[0].partition(" ")[2].lstrip("~") for each in (lost, new)]
        timed = [each.value.startswith("T") for each in (lost, new)]
        if lost.kind in ("quote", "code"):
            a, b = frozenset(_words(lost.text)), frozenset(_words(new.text))
            return len(a & b) / max(1, min(len(a), len(b))) if len(a & b) else 0
        if lost.kind == "url":
            return 1
        around = _around(self.old, lost), _around(self.new, new)
        shared = len(around[0] & around[1])
        if lost.kind == "name":
            close = _is_close(lost.value, new.value)
            return shared + 4 * close if close or shared > 1 else 0
        alike = units[0] == units[1] and timed[0] == timed[1]
        if not alike and (self.translated or not (lost.is_bare or new.is_bare)) and not shared:
            return 0
        if self.translated:
            return 2 + alike if same and alike else 0
        return shared + 2 * same + 2 * alike if shared or alike else 0

    # --- whole sentences ---

    def _sentences(self) -> Iterator[_Change]:
        for number, share in enumerate(self.covered):
            if share < _GONE and len(self.old.stems[number]) > 1:
                yield _Change(kind="dropped", before=self.old.sentence(number), asks=False)
        for number, share in enumerate(self.known):
            if share < _GONE and len(self.new.stems[number]) > 2:
                sentence = self.new.sentence(number)
                asks = self._asks_when_added(number, sentence)
                yield _Change(kind="added", after=sentence, asks=asks, sentence=sentence)
        for number, near in enumerate(self.forward):
            if near and number in self.backward[near[0]][:1]:
                yield from self._edits(number, near[0])

    def _asks_when_added(self, number: int, sentence: str) -> bool:
        if sentence.rstrip('"”’)*_')[-1:] not in ".!?。！？" or len(self.new.stems[number]) < 4:
            return False
        others = [
            share for n, share in enumerate(self.known) if n != number and share >= _GONE
        ]  # fmt: skip
        return min(others, default=0) >= _NEARLY and min(self.covered, default=0) >= _NEARLY

    def _edits(self, number: int, other: int) -> Iterator[_Change]:
        a, b = self.old.words[number], self.new.words[other]
        gone, came = Counter(a) - Counter(b), Counter(b) - Counter(a)
        size = max(len(a), len(b), 1)
        if max(gone.total(), came.total()) > size * (1 - _ALIKE) + 2:
            return
        if _crossed(self.old.sentence(number), self.new.sentence(other)):
            yield _Change(
                kind="order", before=self.old.sentence(number), after=self.new.sentence(other)
            )
        few = 0 < max(gone.total(), came.total()) <= 2 and len(a) > 2
        if few and not _is_spelling(list(gone), list(came)):
            before, after = _around_edit(a, b)
            yield _Change(kind="small_edit", before=before, after=after, asks=False)


def _told(side: _Side) -> str:
    """The language of a text, with its first words."""
    name = _LANGUAGE_NAMES.get(side.language or "", side.language or "")
    return f"{name} ({' '.join(side.prose.split()[:3])}…)"


_LANGUAGE_NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch", "pl": "Polish", "ru": "Russian", "ja": "Japanese",
    "zh": "Chinese", "ko": "Korean",
}  # fmt: skip


def _around(side: _Side, statement: Statement) -> frozenset[str]:
    """The stems of the words near a statement."""
    near = side.plain[max(0, statement.start - 50) : statement.end + 50]
    return frozenset(w[:_STEM] for w in _words(near) if w not in _EMPTY)


def _is_close(one: str, other: str) -> bool:
    """True of two spellings that differ by a letter or two."""
    limit = max(1, min(len(one), len(other)) // 5)
    return DamerauLevenshtein.distance(one, other, score_cutoff=limit) <= limit


def _is_spelling(gone: Sequence[str], came: Sequence[str]) -> bool:
    """True when each word became one that differs by a letter or so, or by its ending."""
    return len(gone) == len(came) and all(
        len(a) > 3 and (_is_close(a, b) or a[:_STEM] == b[:_STEM])
        for a, b in zip(gone, came, strict=True)
    )


def _around_edit(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Both sentences, shortened to what differs and a word on each side."""
    if max(len(a), len(b)) > 80:
        return " ".join(a), " ".join(b)
    before: list[str] = []
    after: list[str] = []
    for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            before.append(" ".join(a[max(0, i - 1) : j + 2]))
            after.append(" ".join(b[max(0, k - 1) : m + 2]))
    return " … ".join(before), " … ".join(after)


_PLACED = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")
_MOVABLE = 12
"""Names and figures of a sentence whose order is looked at."""


def _crossed(one: str, other: str) -> bool:
    """True when two names or figures of a sentence changed places, and what is around did not."""
    (a, first), (b, second) = _neighbours(one), _neighbours(other)
    both = [word for word in a if word in b][:_MOVABLE]
    return any(
        first[x] != first[y]
        and _alike(first[x], second[y]) > _alike(first[x], second[x])
        and _alike(first[y], second[x]) > _alike(first[y], second[y])
        for n, x in enumerate(both)
        for y in both[n + 1 :]
    )


def _neighbours(sentence: str) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """The names and figures that stand once in a sentence, each with the words around it."""
    tokens = _PLACED.findall(sentence[:2000])
    movable = [
        token[0].isdigit() or (token[0].isupper() and token.lower() not in _EMPTY)
        for token in tokens
    ]
    left, lefts = "", list[str]()
    for token, moves in zip(tokens, movable, strict=True):
        lefts.append(left)
        left = left if moves else token.lower()
    right, rights = "", list[str]()
    for token, moves in zip(reversed(tokens), reversed(movable), strict=True):
        rights.append(right)
        right = right if moves else token.lower()
    counts = Counter(token.lower() for token in tokens)
    found = {
        token.lower(): (before, after)
        for token, moves, before, after in zip(
            tokens, movable, lefts, reversed(rights), strict=True
        )
        if moves and counts[token.lower()] == 1
    }
    return list(found), found


def _alike(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


# --- data ---


def _compare_data(
    data: Mapping[tuple[str, ...], str], other: Mapping[tuple[str, ...], str]
) -> tuple[list[_Change], int, int]:
    """The values that differ, each with its key."""
    if len(data.keys() & other.keys()) < 0.5 * min(len(data), len(other)):
        data, other = ({path[-2:]: value for path, value in each.items()} for each in (data, other))
    changes: list[_Change] = []
    for path in dict.fromkeys((*data, *other)):
        before, after = data.get(path), other.get(path)
        if before is None or after is None or comparable(before) != comparable(after):
            label = " ".join(path)
            shown = ["" if each is None else f"{label}: {each}" for each in (before, after)]
            changes.append(_Change(kind="data", before=shown[0], after=shown[1]))
    return changes, len(data) - sum(bool(each.before) for each in changes), len(data)


# --- answers ---

_VERBS = """
    change update correct fix replace move raise lower increase reduce round convert remove delete
    drop adjust set swap rename use fill postpone shift add sound shorten
    ändere aktualisiere korrigiere ersetze verschiebe erhöhe senke runde entferne lösche streiche
    ergänze change modifie corrige remplace déplace augmente baisse supprime enlève ajoute
    cambia actualiza corrige reemplaza mueve aumenta baja elimina quita añade
"""
_KIND_WORDS: Mapping[str, str] = {
    "date": "date time day weekday deadline year datum termin uhrzeit heure jour fecha hora día",
    "money": "price cost amount preis betrag prix precio",
    "number": "number figure arithmetic total zahl chiffre cifra número",
    "url": "link url address lien enlace",
    "code": "code",
    "quote": "quote quotation dialogue zitat citation cita",
    "name": "name spelling proofread typo",
    "added": "example title headline heading hashtag sentence paragraph beispiel exemple ejemplo",
}
"""With the verbs the only words that are taken for a meaning; they may lower a question."""


class _Answers:
    """What answers a difference without asking."""

    def __init__(self, task: str, sources: Sequence[str], failing: Sequence[Span]) -> None:
        self._task, self._failing = _Side(task), failing
        self._sources = [_Side(source) for source in sources]
        self._asked = _asked_kinds(task)

    def answer(self, change: _Change) -> str:
        """`task`, `source`, `rule`, or nothing."""
        if self._is_asked(change):
            return "task"
        lost, new = change.lost, change.new
        if lost and any(start <= lost.start and lost.end <= end for start, end in self._failing):
            return "rule"
        if new and any(source.has(new) for source in self._sources):
            return "source"
        return ""

    def _is_asked(self, change: _Change) -> bool:
        lost, new = change.lost, change.new
        if change.kind == "language":
            return self._asks_for_language(change.after)
        if change.kind == "data":
            return self._asks_for_data(change)
        if new and (self._task.has(new) or self._has_part(new)):
            return True
        if lost and self._asked.any_verb and self._task.has(lost):
            return True
        if change.kind in self._asked.kinds:
            return change.kind != "name" or bool(lost and new and _is_close(lost.value, new.value))
        return "example" in self._asked.words and bool(change.sentence)

    def _has_part(self, new: Statement) -> bool:
        """True of a name whose first word the task has: step 3, where it speaks of steps."""
        label = new.value.split()[0] if new.kind == "name" and new.figures else ""
        return bool({label, f"{label}s"} & self._task.vocabulary)

    def _asks_for_language(self, after: str) -> bool:
        if not asks_for_translation(self._task.text):
            return False
        targets = translation_into(f"translate {self._task.text}")
        names = {_LANGUAGE_NAMES.get(code, code) for code in targets or ()}
        return not names or after.split(" (")[0] in names

    def _asks_for_data(self, change: _Change) -> bool:
        label = frozenset(_words((change.before or change.after).partition(":")[0]))
        value = _words(change.after.partition(":")[2])
        if value and self._task.vocabulary.issuperset(value):
            return True
        return self._asked.any_verb and bool(label & self._task.vocabulary - _EMPTY)


@dataclass(frozen=True, slots=True)
class _Asked:
    kinds: frozenset[str]
    words: frozenset[str]
    any_verb: bool


_CLAUSE = re.compile(r"[.;!?\n]+|, (?=but|aber|mais|pero)")
_DENIED = re.compile(
    r"\b(?:not|never|no|without|nicht|kein\w*|ohne|ne|pas|sans|sin|keep)\b|n't\b", re.IGNORECASE
)
_IT = re.compile(r"\b(?:it|them)\b", re.IGNORECASE)


def _asked_kinds(task: str) -> _Asked:
    """The kinds that a clause of the task asks to change: a word for it, and a verb of change."""
    verbs = frozenset(_VERBS.split())
    kinds: set[str] = set()
    said: set[str] = set()
    waiting: set[str] = set()
    any_verb = False
    for clause in _CLAUSE.split(task[:5000]):
        words = frozenset(re.findall(r"[^\W\d_]+", clause.casefold()))
        forms = words | {w.removesuffix("s") for w in words} | {w.removesuffix("n") for w in words}
        named = {k for k, listed in _KIND_WORDS.items() if forms & frozenset(listed.split())}
        if _DENIED.search(clause):
            continue
        if forms & verbs:
            any_verb = True
            kinds |= named | (waiting if _IT.search(clause) else set())
            said |= forms
        if forms & {"proofread", "spelling", "typo"}:
            kinds.add("name")
        waiting = named
    return _Asked(frozenset(kinds), frozenset(said), any_verb)
