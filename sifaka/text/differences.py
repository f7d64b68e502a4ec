"""What a version of a text says otherwise than the original: measured, not judged."""

import csv
import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, partial
from itertools import groupby
from typing import Literal, cast

from rapidfuzz.distance import LCSseq

from sifaka._internal.immutable import Frozen
from sifaka.text.compared_text import (
    EMPTY,
    FIGURES,
    SIGN,
    STEM,
    Side,
    crossed_places,
    form_of,
    is_close,
    is_crossed,
    stems_in,
    words_in,
)
from sifaka.text.difference_answers import Answers, Change, Kind, Task
from sifaka.text.language import LANGUAGE_NAMES
from sifaka.text.limits import outside_scope
from sifaka.text.notation import numeral_readings, shown_number
from sifaka.text.numbers_and_names import Statement, is_same, read
from sifaka.text.tables import patterns_of

Path = tuple[str, ...]
"""Where a value is in data."""
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
    """`noted` does not ask: it is in the ledger."""
    by: str = ""
    """What answered it: `task`, `source`, `rule`, `arithmetic`, or who."""
    reason: str = ""

    @property
    def words(self) -> str:
        """What became of what; `nothing` stands for what is lost or new."""
        before, after = (repr(each) if each else "nothing" for each in (self.before, self.after))
        return f"{before} became {after}"


class Differences(Frozen):
    """The differences between two texts."""

    differences: tuple[Difference, ...]
    """The open ones, the covered ones and the noted ones."""
    kept: int
    """Statements of the original that the version has too."""
    total: int
    """Statements of the original."""


def compare(
    original: str,
    version: str,
    *,
    task: str = "",
    sources: Sequence[str] = (),
    failing: Sequence[str] = (),
) -> Differences:
    """The differences between an original and a version of it, and which of them are answered.

    Args:
        original: The text that was to be changed.
        version: What became of it.
        task: What was asked for.
        sources: Texts that may say what is new.
        failing: Quotes of the original at which a required rule fails.
    """
    if "```" not in original and (fenced := _FENCED.fullmatch(version)):
        version = fenced[1]
    request, old, new = Task(task), Side(original), Side(version)
    data, other = values_of(original), values_of(version)
    # Where few paths are the same the data has another shape: what it says is read as in prose.
    if data and other and 2 * len(data.keys() & other.keys()) > len(data):
        changes = list(_compare_data(data, other))
        total, kept = len(data), len(data) - sum(bool(change.before) for change in changes)
    else:
        # In data quotation marks say where a string is.
        quotes = frozenset(["quote"] if data or other else ())
        prose = [each for each in _Prose(old, new, request).changes() if each.kind not in quotes]
        changes = [*prose, *request.not_entered(old, new)]
        total = len(old.statements)
        kept = total - sum(change.lost is not None for change in changes)
    changes += (Change("scope", *each) for each in outside_scope(task, original, version))
    places = [(original.find(each), len(each)) for each in failing if each]
    answers = Answers(request, old, changes, sources=sources, failing=places)
    distinct = dict.fromkeys(_make_difference(change, answers) for change in changes)
    listed = sorted(distinct, key=lambda each: ("open", "covered", "noted").index(each.status))
    numbered = (each.model_copy(update={"id": f"d{n}"}) for n, each in enumerate(listed, 1))
    return Differences(differences=tuple(numbered), kept=kept, total=total)


def _make_difference(change: Change, answers: Answers) -> Difference:
    by = answers.answer(change) if change.asks or change.new or change.lost else ""
    status = "covered" if by else "open" if change.asks else "noted"
    before, after = (
        line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
        for line in (" ".join(each.split()) for each in (change.before, change.after))
    )
    return Difference(id="", kind=change.kind, before=before, after=after, status=status, by=by)


_NEAREST = 40
"""Sentences that are looked at for one word of a sentence."""


def _find_nearest(side: Side, other: Side) -> list[list[int]]:
    """For each sentence of a side the three of the other that share most with it."""
    rate = len(other.stems) / len(side.stems)
    postings: dict[str, list[int]] = defaultdict(list)
    for number, stems in enumerate(other.stems):
        for stem in stems:
            postings[stem].append(number)
    nearest: list[list[int]] = []
    for number, stems in enumerate(side.stems):
        scores: Counter[int] = Counter()
        for listed in filter(None, map(postings.get, stems)):
            first = max(0, bisect_left(listed, int(number * rate)) - _NEAREST // 2)
            scores.update(listed[first : first + _NEAREST])
        ranks = {
            j: (-score / (len(stems) + len(other.stems[j])), abs(j - number * rate))
            for j, score in scores.items()
        }
        nearest.append(sorted(ranks, key=ranks.__getitem__)[:3])
    return nearest


def _measure_coverage(side: Side, other: Side, nearest: Sequence[Sequence[int]]) -> list[float]:
    """The share of the words of each sentence that stand in those nearest to it."""
    return [
        len(stems & frozenset[str]().union(*(other.stems[j] for j in near))) / max(1, len(stems))
        for stems, near in zip(side.stems, nearest, strict=True)
    ]


_GONE, _STAYS, _NEARLY = 0.34, 0.6, 0.7
"""Shares of a sentence's words: below, it has no counterpart; from, it stays; nearly as it was."""
_ALIKE = 0.85
_MOST_STATED = 20
"""Statements of one sentence that are compared with those of another, one by one."""
_SHORTER = 0.6
"""The share of the words below which a version leaves out on purpose: what is lost is listed."""
_DATA = patterns_of(__file__, "data")
_FENCED = re.compile(r"\s*```[^\n`]*\n(.*)\n```\s*", re.DOTALL)
_EDIT, _LARGE_EDIT = 2, 40
"""Words of a sentence that a small edit changes, and the most that is listed of a narrow task."""
_WHOLE = re.compile(r"[.!?。！？][\"”’)*_]{0,5}\s*\Z")


class _Prose:
    """Two texts, sentence by sentence."""

    def __init__(self, old: Side, new: Side, task: Task) -> None:
        self.old, self.new = old, new
        self.entered = partial(task.side.has, exact=True)
        """True of a statement that the task has."""
        self.task_stems = frozenset(word[:STEM] for word in task.side.vocabulary - EMPTY)
        self.most = _LARGE_EDIT if task.is_narrow else _EDIT
        languages = {old.language, new.language}
        stems, old_stems = (frozenset[str]().union(*side.stems) for side in (new, old))
        foreign = 2 * len(stems & old_stems) < len(stems)
        self.translated = len(languages) == 2 and None not in languages and foreign
        self.forward, self.backward = _find_nearest(old, new), _find_nearest(new, old)
        self._counterparts = [
            (number, near[0])
            for number, near in enumerate(self.forward)
            if near and number in self.backward[near[0]][:1]
        ]
        """The sentences that are the nearest to each other."""
        self.covered = _measure_coverage(old, new, self.forward)
        self.known = _measure_coverage(new, old, self.backward)
        sizes = [sum(map(len, side.words)) for side in (new, old)]
        self.shorter = sizes[0] < _SHORTER * sizes[1]
        self.lost = [s for s in old.statements if not new.has(s)]
        self.fresh = [s for s in new.statements if not old.has(s)]

    def changes(self) -> Iterator[Change]:
        """What differs, the statements first."""
        if self.translated:
            yield Change("language", _describe_language(self.old), _describe_language(self.new))
        for gone, came in self._exchanges.items():
            yield Change(gone.kind, gone.text, came.text, True, gone, came)
            if self.entered(came) and self.new.has(gone):
                yield Change("not_entered", came.text, gone.text, asks=False)
        if not self.translated:
            yield from (Change("order", *each) for each in crossed_places(self.old, self.new))
        pairs = self._pair_statements()
        for n, lost in enumerate(self.lost):
            new = self.fresh[pairs[n]] if n in pairs else None
            short = new and lost.kind == "name" and _is_short_for(lost.value, new.value)
            if short or lost in self._exchanges:
                continue
            elsewhere = (
                new
                and self.new.has_digits(lost)
                and self.old.has_digits(new)
                # Two dates that can be read in one way are of two months, or of two weekdays.
                and (lost.kind != "date" or "|" in lost.value + new.value)
            )
            asks = not elsewhere if new else self._asks_when_lost(lost)
            yield Change(lost.kind, lost.text, new.text if new else "", asks, lost, new)
        taken = frozenset(pairs.values())
        put = frozenset(self._exchanges.values())
        for n, new in enumerate(self.fresh):
            if n not in taken and new not in put:
                unlike = self.known[self.new.sentence_of(new)] < _STAYS
                asks = self._asks_when_new(new)
                yield Change(new.kind, "", new.text, asks, new=new, unlike=unlike)
        if not self.translated:
            yield from self._compare_sentences()

    def _asks_when_lost(self, lost: Statement) -> bool:
        named = lost.kind in ("name", "number") or (self.translated and lost.kind == "quote")
        quiet = named or self.shorter or lost.weak or self.new.has_digits(lost)
        stays = self.translated or self.covered[self.old.sentence_of(lost)] >= _STAYS
        return stays and not quiet

    def _asks_when_new(self, new: Statement) -> bool:
        quiet = new.weak or self.old.has_digits(new) or self._is_respelt(new)
        loose = new.kind == "quote" and len(new.value.split()) < 3
        foreign = new.kind == "name" and self.translated and not new.figures
        return not (quiet or loose or foreign)

    def _is_respelt(self, new: Statement) -> bool:
        """True of a word that stands for one spelt nearly so, such as a day with a letter moved."""
        near = self.backward[self.new.sentence_of(new)][:1]
        gone = {word for n in near for word in self.old.words[n]} - self.new.vocabulary
        return any(word.isalpha() and _is_spelling([word], words_in(new.text)) for word in gone)

    def _pair_statements(self) -> dict[int, int]:
        """Which of the new statements is in the place of which lost one."""
        places: dict[int, list[int]] = defaultdict(list)
        for m, new in enumerate(self.fresh):
            places[self.new.sentence_of(new)].append(m)
        scored: list[tuple[float, int, int]] = []
        for n, lost in enumerate(self.lost):
            middle = n * len(self.fresh) // len(self.lost)
            near = range(max(0, middle - 20), min(len(self.fresh), middle + 20))
            if lost.kind in FIGURES | {"name"} and not self.translated:
                sentences = self.forward[self.old.sentence_of(lost)]
                near = [m for number in sentences for m in places.get(number, ())[:20]]
            scored += ((self._score_pair(lost, self.fresh[m]), -n, -m) for m in near)
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for score, n, m in sorted(scored, reverse=True):
            if score > 0 and -n not in pairs and m not in taken:
                pairs[-n] = -m
                taken.add(m)
        return pairs

    def _score_pair(self, lost: Statement, new: Statement) -> float:
        """How surely one took the place of the other; 0 where it did not."""
        same = lost.kind == new.kind
        foreign = self.translated and lost.kind == "name"
        if foreign or not (same or {lost.kind, new.kind} <= FIGURES):
            return 0
        if lost.kind in ("quote", "code", "url"):
            return len(stems_in(lost.text) & stems_in(new.text)) + (lost.kind == "url")
        shared = len(self.old.around(lost) & self.new.around(new))
        if lost.kind == "name":
            close = is_close(lost.value, new.value) or _is_short_for(lost.value, new.value)
            sure = shared > 1 and not (lost.weak or new.weak or "#" in lost.text + new.text)
            return shared + 4 * close if close or sure else 0
        alike = form_of(lost) == form_of(new)
        if self.translated:
            return 2 * (same and alike)
        unsure = (lost.weak or new.weak) and not alike
        return 0 if unsure or not (alike or shared > 1) else shared + 2 * same + 2 * alike

    def _compare_sentences(self) -> Iterator[Change]:
        """What became of whole sentences."""
        old, new = self.old, self.new
        for sentence, stems, share in zip(old.sentences, old.stems, self.covered, strict=True):
            if share < _GONE and len(stems) > 1:
                yield Change("dropped", sentence, "", asks=False)
        stay = min(*self.covered, *(each for each in self.known if each >= _GONE), 1) >= _NEARLY
        for sentence, stems, share in zip(new.sentences, new.stems, self.known, strict=True):
            from_task = len(stems & self.task_stems) >= _STAYS * len(stems)
            if share < _GONE and len(stems) > 2 and not from_task:
                whole = bool(_WHOLE.search(sentence)) and len(stems) > 3
                yield Change("added", "", sentence, whole and stay, unlike=True)
        for number, other in self._counterparts:
            yield from self._find_edits(number, other)

    def _find_edits(self, number: int, other: int) -> Iterator[Change]:
        """What differs in two sentences that are nearly the same."""
        a, b = self.old.words[number], self.new.words[other]
        one, two = (Counter(word[:STEM] for word in words) for words in (a, b))
        gone, came = one - two, two - one
        size = max(gone.total(), came.total())
        sentences = self.old.sentences[number], self.new.sentences[other]
        listed = any(s in self._exchanges for s in self.old.stated[number]) or (
            [word for word, _ in groupby(a)] == [word for word, _ in groupby(b)]  # the the
        )
        if size <= (1 - _ALIKE) * max(len(a), len(b)) and is_crossed(*sentences):
            yield Change("order", *sentences)
        elif 0 < size <= self.most and len(a) > 2 and not (listed or self._is_listed(gone, came)):
            spaced = [sentence.split() for sentence in sentences]
            pair = spaced if min(map(len, spaced)) > 2 else (a, b)
            yield Change("small_edit", *_shorten_to_edit(*pair), asks=False)

    @cached_property
    def _exchanges(self) -> dict[Statement, Statement]:
        """The statements of which another one has the place, in a sentence that stays.

        One of the two at least is elsewhere in the other text too, so that texts as a whole
        say nothing of it.
        """
        exchanges: dict[Statement, Statement] = {}
        for number, other in () if self.translated else self._counterparts:
            mine, theirs = self.old.stated[number], self.new.stated[other]
            if max(len(mine), len(theirs)) <= _MOST_STATED:
                gone = [s for s in mine if not any(_is_alike(s, t) for t in theirs)]
                came = [t for t in theirs if not any(_is_alike(s, t) for s in mine)]
                if len(gone) == len(came) == 1 and self._is_exchange(number, gone[0], came[0]):
                    exchanges[gone[0]] = came[0]
        return exchanges

    def _is_exchange(self, number: int, gone: Statement, came: Statement) -> bool:
        both_differ = gone in self._differing and came in self._differing
        if both_differ or gone.weak or came.weak or gone.kind != came.kind:
            return False
        words = self.old.words[number], self.new.words[self.forward[number][0]]
        one, two = (Counter(word[:STEM] for word in each) for each in words)
        nearly = max((one - two).total(), (two - one).total()) <= _EDIT < len(words[0])
        return nearly or (gone.kind in FIGURES and form_of(gone) == form_of(came) != "")

    def _is_listed(self, gone: Iterable[str], came: Iterable[str]) -> bool:
        """True of another spelling, of a name that is listed anyway, and of words of the task."""
        return _is_spelling([*gone], [*came]) or all(
            word in self._listed or (came and word in self.task_stems) for word in (*gone, *came)
        )

    @cached_property
    def _differing(self) -> frozenset[Statement]:
        return frozenset((*self.lost, *self.fresh))

    @cached_property
    def _listed(self) -> frozenset[str]:
        """The stems of what is lost and new."""
        return frozenset(w[:STEM] for each in self._differing for w in words_in(each.text))


def _describe_language(side: Side) -> str:
    """The language of a text, with its first words."""
    name = LANGUAGE_NAMES.get(side.language or "", side.language or "")
    return f"{name} ({' '.join(side.text.split()[:3])}…)"


def _is_short_for(one: str, other: str) -> bool:
    """True of two names of which one abbreviates the other by words: `High Rd`, `High Road`."""
    words = sorted((one.split(), other.split()), key=lambda each: len("".join(each)))
    return len(words[0]) == len(words[1]) and all(
        a == b or (len(a) > 1 and a[0] == b[0] and LCSseq.similarity(a, b) == len(a))
        for a, b in zip(*words, strict=True)
    )


def _is_alike(one: Statement, other: Statement) -> bool:
    """True when two statements of sentences that stand for one another may say the same."""
    within = one.value in other.value or other.value in one.value
    return within or bool(one.figures & other.figures) or is_same(one, other)


def _is_spelling(gone: Sequence[str], came: Sequence[str]) -> bool:
    """True when each word became one that differs by a letter or so."""
    pairs = zip(gone, came, strict=False)
    return len(gone) == len(came) and all(len(a) > 3 and is_close(a, b) for a, b in pairs)


def _shorten_to_edit(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Both sentences, shortened to what differs and a word on each side."""
    codes = SequenceMatcher(None, a[:80], b[:80], autojunk=False).get_opcodes()
    pieces = [
        (" ".join(a[max(0, i - 1) : j + 2]), " ".join(b[max(0, k - 1) : m + 2]))
        for tag, i, j, k, m in codes
        if tag != "equal"
    ]
    before, after = (
        re.sub(rf"(?<={SIGN}) (?={SIGN})", "", " … ".join(each))
        for each in zip(*pieces or [("", "")], strict=True)
    )
    return before, after


# --- data ---

LONGEST = 200_000
"""Characters of a text that is read as data."""
_MOST_VALUES, _DEEPEST = 20_000, 40


def values_of(text: str) -> Mapping[Path, str] | None:
    """The values of a text that is data, by path; None of any other text.

    A row of a table, or an object in a list, has the name of its first value in a path; so the
    order of rows and keys does not count, nor do the case and the joints of keys.
    """
    if len(text) > LONGEST:
        return None
    fenced = _DATA["fence"].match(text)
    try:
        values = dict(_flatten(_parse_data((fenced[1] if fenced else text).strip()), (), 0))
    except (ValueError, RecursionError, csv.Error):
        return None
    return values if 1 < len(values) < _MOST_VALUES else None


def comparable(value: str) -> str:
    """A value without the notation of its numbers and the case of its words."""
    bare = value.replace("\\|", "|").strip().strip("*_`\"'").casefold()
    readings = numeral_readings(bare.lstrip("-")) if _DATA["numeral"].fullmatch(bare) else ()
    number = "|".join(map(shown_number, readings))
    return f"{bare[: bare[0] == '-']}{number}" if number else bare.replace("null", "").strip("-~")


def _parse_data(text: str) -> object:
    """The data of a text.

    Raises:
        ValueError: It is none.
    """
    if text[:1] in "{[":
        return json.loads(text)
    rows = _DATA["html_row"].findall(text)
    lines = [line.strip() for line in text.split("\n")]
    if rows:
        return _make_records([_DATA["html_cell"].findall(row) for row in rows])
    if len(lines) > 2 and _DATA["rule"].fullmatch(lines[1]) and all("|" in line for line in lines):
        return _make_records(
            [_DATA["cell_end"].split(line.strip("|")) for line in (lines[0], *lines[2:])]
        )
    for mark in ",;\t":
        listed = list(csv.reader(lines, delimiter=mark))
        even = {len(row) for row in listed} == {lines[0].count(mark) + 1}
        if even and mark in lines[0] and 2 * text.count(f"{mark} ") <= text.count(mark):
            return _make_records(listed)
    return _parse_yaml(text)


def _make_records(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]


def _parse_yaml(text: str) -> object:
    import yaml

    if not _DATA["yaml"].match(text) or _DATA["prose"].search(text) or "\n" not in text:
        raise ValueError("this is prose")
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506, it only makes strings
    except yaml.YAMLError as error:
        raise ValueError("this is no YAML") from error


def _flatten(data: object, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    if depth > _DEEPEST:
        raise ValueError("this is too deep")
    if not isinstance(data, dict | list):
        yield path, comparable(data) and data if isinstance(data, str) else json.dumps(data)
        return
    if isinstance(data, list):
        listed = cast("list[object]", data)
        if len(listed) == 1 and not isinstance(listed[0], dict | list):
            # Whether a value is in a list of its own is a matter of form: a schema's.
            yield from _flatten(listed[0], path, depth + 1)
            return
        items = {_name_item(value, n): value for n, value in reversed([*enumerate(listed)])}
        data = items if len(items) == len(listed) else dict(enumerate(listed))
    for key, value in cast("dict[object, object]", data).items():
        yield from _flatten(value, (*path, re.sub(r"[\W_]+", "", str(key).casefold())), depth + 1)


def _name_item(value: object, number: int) -> object:
    """What a row or an object of a list is known by: its first value."""
    inside = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    first = next(iter(inside.values()), None)
    return first if isinstance(first, str) and first else number


def _is_same_value(one: str, other: str) -> bool:
    """True of two values of data that are the same, or one date in two notations."""
    dated = _DATA["day"].fullmatch(one) and _DATA["day"].fullmatch(other)
    return comparable(one) == comparable(other) or bool(dated and Side(one).has(read(other)[0]))


def _compare_data(data: Mapping[Path, str], other: Mapping[Path, str]) -> Iterator[Change]:
    """The values that differ, each with its key."""
    if len(data.keys() & other.keys()) < 0.5 * min(len(data), len(other)):
        data, other = ({path[-2:]: value for path, value in each.items()} for each in (data, other))
    for path in dict.fromkeys((*data, *other)):
        before, after = (
            f"{' '.join(path)}: {each[path]}" if path in each else "" for each in (data, other)
        )
        if not _is_same_value(data.get(path, ""), other.get(path, "")):
            yield Change("data", before, after)
