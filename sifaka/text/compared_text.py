"""One side of a comparison of texts: what it states, and its sentences as words."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, combinations, pairwise

from rapidfuzz.distance import DamerauLevenshtein

from sifaka.text.language import FUNCTION_WORDS, tell_language
from sifaka.text.numbers_and_names import READ_LANGUAGES, Statement, is_same, read, words_of
from sifaka.text.prose import blanked, sentences

STEM = 5
"""Letters by which the forms of one word are recognised."""
SIGN = r"[\u3041-\u30ff\u3400-\u9fff]"
WORD = re.compile(rf"{SIGN}|(?:(?!{SIGN})[^\W_])+")
EMPTY = frozenset(w for code in READ_LANGUAGES for w in FUNCTION_WORDS[code].split())
_MOST = 400
"""Statements that one is compared with, one by one."""
FIGURES = frozenset({"number", "date", "money"})
_LEAST_EVIDENCE = 0.2
"""Below it a list of names would have a language."""


def words_in(text: str) -> list[str]:
    """The words of a text, in lower case and without accents; each sign of Chinese is one."""
    return WORD.findall(words_of(text))


def stems_in(text: str) -> frozenset[str]:
    """The stems of the words that say something; of all words where none does."""
    words = words_in(text)
    full = frozenset(w[:STEM] for w in words if w not in EMPTY)
    return full or frozenset(w[:STEM] for w in words)


class Side:
    """One of the texts."""

    def __init__(self, text: str) -> None:
        self.text, self.statements = text, read(text)
        self.wording = f" {words_of(text)} "
        self.vocabulary = frozenset(WORD.findall(self.wording))
        self.digits = frozenset(re.findall(r"\d+", text))
        self._readings = frozenset(r for s in self.statements for r in s.readings)
        self._figures = frozenset(f for s in self.statements for f in s.figures)
        self._bare = frozenset(
            f for s in self.statements if s.is_bare and s.kind != "name" for f in s.figures
        )
        distinct = {s.value: s for s in self.statements if re.search("[-~ ]", s.value)}
        self._distinct = [*distinct.values()][:_MOST]
        self._around: dict[int, frozenset[str]] = {}
        self.plain = blanked(
            text, [(s.start, s.end) for s in self.statements if s.kind not in ("quote", "name")]
        )

    @cached_property
    def _code_figures(self) -> frozenset[str]:
        """The figures within code and addresses."""
        literal = (s.text for s in self.statements if s.kind in ("code", "url"))
        return frozenset(re.findall(r"\d+(?:[.,]\d+)*", " ".join(literal)))

    @cached_property
    def _initials(self) -> str:
        """The first letters of the words, without spaces."""
        return "".join(word[0] for word in self.wording.split())

    @cached_property
    def _joined(self) -> str:
        return self.wording.replace(" ", "")

    @cached_property
    def prose(self) -> str:
        """The text without code and addresses; its places stay."""
        literal = [(s.start, s.end) for s in self.statements if s.kind in ("code", "url")]
        return blanked(self.text, literal)

    @cached_property
    def language(self) -> str | None:
        """The code of its language, where that is sure."""
        detected = tell_language(re.sub(r"<[^<>]{0,300}>|[*_#|`]", " ", self.prose))
        sure = detected.confidence >= 0.4 and detected.scores[0][1] >= _LEAST_EVIDENCE
        return detected.language if sure else None

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return list(sentences(self.prose)) or [(0, len(self.text))]

    @cached_property
    def sentences(self) -> list[str]:
        """Its sentences, as they stand."""
        return [self.text[start:end] for start, end in self._spans]

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each sentence, without its figures."""
        return [words_in(self.plain[start:end]) for start, end in self._spans]

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The stems of each sentence."""
        return [stems_in(self.plain[start:end]) for start, end in self._spans]

    @cached_property
    def stated(self) -> dict[int, list[Statement]]:
        """The statements by the number of their sentence."""
        by_sentence: dict[int, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            by_sentence[self.sentence_of(statement)].append(statement)
        return by_sentence

    def sentence_of(self, statement: Statement) -> int:
        """The number of the sentence that a statement stands in."""
        return max(0, bisect_right(self._spans, (statement.start, len(self.text))) - 1)

    def around(self, statement: Statement) -> frozenset[str]:
        """The stems of the words near a statement."""
        if statement.start not in self._around:
            near = self.plain[max(0, statement.start - 50) : statement.end + 50]
            self._around[statement.start] = stems_in(near) - EMPTY
        return self._around[statement.start]

    def has(self, statement: Statement, *, exact: bool = False) -> bool:
        """True when this text has a statement that says the same.

        Args:
            statement: One of another text.
            exact: Whether a bare number is too little to say a date.
        """
        bare_number = statement.is_bare and statement.kind != "name"
        figures = self._figures if bare_number else self._bare
        # A date with its month and its day: no bare number says as much.
        is_day = statement.kind == "date" and (exact or re.match(r"\S+-\d+-\d+", statement.value))
        if statement.readings & self._readings or (not is_day and statement.figures & figures):
            return True
        if statement.kind in ("code", "url"):
            return statement.value in self.text
        if statement.text in self._code_figures:
            return True
        if statement.kind == "quote":
            return f" {statement.value} " in self.wording
        if statement.kind == "name":
            return self._has_name(statement)
        if statement.is_bare and not statement.weak:
            return False
        spelled = not re.search(r"\d", statement.text) and words_in(statement.text)
        return bool(spelled and self.vocabulary.issuperset(spelled)) or any(
            is_same(statement, each) for each in self._distinct
        )

    def _has_name(self, name: Statement) -> bool:
        """True when all words of a name stand here, or its initials, or what it is short for."""
        words = [word for word in name.value.split() if word not in EMPTY]
        short = "".join(word[0] for word in words)
        return bool(
            all({w, f"{w}s", w.removesuffix("s")} & self.vocabulary for w in words)
            or (len(words) > 1 and short in self.vocabulary)
            or (name.weak and len(name.value) > 2 and name.value in self._initials)
            or (re.search(r"\d", name.value) and name.value.lstrip("#") in self._joined)
        )

    def has_digits(self, statement: Statement) -> bool:
        """True when all digits of a statement stand here, in whatever notation."""
        runs = re.findall(r"\d+", statement.text)
        return bool(runs) and self.digits.issuperset(runs)


def form_of(statement: Statement) -> str:
    """What a figure is of: a unit, a currency, a time or a date; empty of a bare number."""
    return re.sub(r"[^a-zT%°]", "", statement.value.split("|")[0]) or (
        "date" if statement.kind == "date" else ""
    )


def is_close(one: str, other: str) -> bool:
    """True of two spellings that differ by a letter or two."""
    limit = max(1, min(len(one), len(other)) // 5)
    return DamerauLevenshtein.distance(one, other, score_cutoff=limit) <= limit


# --- what changed places ---


def crossed_places(old: Side, new: Side) -> Iterator[tuple[str, str]]:
    """Two names or figures, each beside what the other one stood beside.

    Looked at is the nearest word or statement in their line, before them or behind, that both
    texts have once.
    """
    statements, listed = {_make_key(s): s for s in old.statements}, set[str]()
    first, second = _find_unique(old), _find_unique(new)
    kept = ([key for key in first if key in second], [key for key in second if key in first])
    for step in (1, -1):
        was, now = (
            {b: a for a, b in pairwise(keys[::step]) if lines[a] == lines[b]}
            for keys, lines in zip(kept, (first, second), strict=True)
        )
        at = {(was[key], now[key]): key for key in was.keys() & now.keys() & statements.keys()}
        for (one, two), key in at.items():
            other = at.get((two, one), key)
            mine, its = statements[key], statements[other]
            if key < other and (mine.kind, form_of(mine)) == (its.kind, form_of(its)):
                if listed.isdisjoint((one, two)):
                    yield mine.text, its.text
                listed |= {key, other}


def _find_unique(side: Side) -> dict[str, int]:
    """The statements and the stems of the words that a text has once, in order, and their lines."""
    stated = [(s.start, _make_key(s)) for s in side.statements if s.kind != "quote"]
    rest = blanked(side.text, [(s.start, s.end) for s in side.statements if s.kind != "quote"])
    words = [(m.start(), m.group().casefold()) for m in WORD.finditer(rest)]
    keyed = sorted([*stated, *((at, w[:STEM]) for at, w in words if w not in EMPTY)])
    counts = Counter(key for _, key in keyed)
    ends = [m.start() for m in re.finditer("\n", side.text)]
    return {key: bisect_left(ends, at) for at, key in keyed if counts[key] == 1}


def _make_key(statement: Statement) -> str:
    return f"={statement.kind} {statement.value}"


_MOVABLE = 12
"""Names and figures of a sentence whose order is looked at."""


def is_crossed(one: str, other: str) -> bool:
    """True when two names or figures of a sentence changed places, and what is around did not."""
    first, second = _find_neighbours(one), _find_neighbours(other)

    def fits(x: str, y: str) -> int:
        return sum(a == b for a, b in zip(first[x], second[y], strict=True))

    both = [word for word in first if word in second][:_MOVABLE]
    return any(
        fits(x, y) > fits(x, x) and fits(y, x) > fits(y, y) for x, y in combinations(both, 2)
    )


def _find_neighbours(sentence: str) -> dict[str, tuple[str, ...]]:
    """The names and figures that stand once in a sentence, each with the words around it."""
    tokens = re.findall(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+", sentence[:2000])
    counts = Counter(token.lower() for token in tokens)
    movable = [
        token[0].isdigit() or (token[0].isupper() and token.lower() not in EMPTY)
        for token in tokens
    ]
    marked = list(zip(tokens, movable, strict=True))
    plain = ["", *(token.lower() for token, moves in marked if not moves), "", ""]
    before = accumulate(not moves for moves in movable)
    return {
        token.lower(): tuple(plain[at : at + 3])
        for (token, moves), at in zip(marked, before, strict=True)
        if moves and counts[token.lower()] == 1
    }
