"""What can be compared exactly about a claim and a sentence, without understanding either."""

import re
from collections.abc import Iterable, Iterator, Sequence

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Assessment
from sifaka.evidence.passages import nearest, passages_of, stems, without_heading
from sifaka.text.prose import blanked, sentence_spans
from sifaka.text.statements import Statement, is_same, normalised, read

_PASSAGES, _READ = 5, 700
"""Passages of a document that are read for a claim, and their characters."""
_SAME = 0.5
"""The share of a sentence's telling words that a claim has, for the two to be about one thing."""
_LONGEST = 1_000
"""Characters of a sentence."""
_COMPARED = frozenset({"number", "date", "money"})
_ROW = re.compile(r"^[ \t]*(?:[|•*+-]|\d{1,3}[.)])(?=[ \t|])", re.MULTILINE)
_CITATION = re.compile(
    r"(?<=[\w.,;:!?)\]%\"'”’])\s?\[\^?[1-9]\d{0,2}(?:\s?[,;–-]\s?[1-9]\d{0,2})*\](?!\()"
)
# Signs count: `-5` is not `5`, and `5 %` is not `5 €`.
_TOKEN = re.compile(
    r"(?:(?<!\w)[-−])?\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s.,;:!'\"()\[\]…-]"
)


def judged_by_rule(claim: str, document: SourceDocument) -> Assessment | None:
    """The judgement on a claim where no understanding is needed for one; else None.

    `support`: a whole sentence says it verbatim, or with its end put first. A contradiction: one
    sentence alone is about the same, in the claim's words and with no further small ones, and one
    number or date at the same place in it is another.
    """
    claim = uncited(claim)
    sentences = [each for each in sentences_near(claim, document) if len(each) <= _LONGEST]
    for sentence in sentences:
        if _repeats(claim, sentence):
            return Assessment(criterion="claim", judgement="support", quotes=(sentence,))
    about = [each for each in sentences if _is_about(claim, each, document.title)]
    if len(about) == 1 and _differs_in_a_figure(claim, about[0], document.title):
        return Assessment(
            criterion="claim", judgement="reject", contradicts=True, quotes=(about[0],)
        )
    return None


def disagreement(claim: str, quoted: str) -> str:
    """The number, date or amount of a claim that the words quoted for it do not have, in words.

    Empty where they have all of them, in whatever notation.
    """
    theirs = _figures(quoted)
    for each in _figures(uncited(claim)):
        # `One` and `a` are seldom meant as numbers.
        if each.value != "1" and not any(is_same(each, other) for other in theirs):
            return f"the words quoted do not say {each.text[:80]!r}"
    return ""


def sentence_near(claim: str, document: SourceDocument) -> str:
    """The sentence of a document that has most of a claim's words; empty where none has any."""
    wanted = stems(claim)
    own = wanted - stems(document.title)  # the subject's name stands everywhere, or nowhere
    shared = {
        each: (len(own & found), len(wanted & found))
        for each in sentences_near(claim, document)
        for found in (stems(each),)
    }
    best = max(shared, key=lambda each: shared[each], default="")
    return best if best and any(shared[best]) else ""


def sentences_near(claim: str, document: SourceDocument) -> Iterable[str]:
    """The sentences of the passages that have most of a claim's words."""
    passages = nearest(claim, passages_of([document], longest=_READ), _PASSAGES)
    for passage in passages:
        text = without_heading(passage.text)
        for sentence in sentence_spans(text):
            yield from (text[slice(*span)] for span in rows(text, *sentence))


def rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence, or the rows of a table and the items of a list, each by itself."""
    for found in _ROW.finditer(text, start, end):
        if found.start() > start:
            yield start, found.start()
            start = found.start()
    yield start, end


def uncited(claim: str) -> str:
    """The claim without numbers of references, which its sources do not have."""
    return _CITATION.sub("", claim)


def _figures(text: str) -> list[Statement]:
    return [each for each in read(text) if each.kind in _COMPARED]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(normalised(text).casefold())


def _repeats(claim: str, sentence: str) -> bool:
    """True when a sentence has the words of a claim, in their order or with the end put first.

    In any order would be too many: who beats whom, or `5 to 7`, is told by the order alone.
    """
    ours, theirs = _tokens(claim), _tokens(sentence)
    if not ours or sorted(ours) != sorted(theirs):
        return False
    return any(ours[at:] + ours[:at] == theirs for at in range(len(ours)))


def _is_about(claim: str, sentence: str, title: str) -> bool:
    """True when all that a claim says besides figures stands in the sentence, and little else."""
    ours, theirs = (stems(_bare(text)) - stems(title) for text in (claim, sentence))
    return bool(ours) and ours <= theirs and len(ours) >= _SAME * len(theirs)


def _bare(text: str) -> str:
    """The text without its numbers, dates and amounts."""
    return blanked(text, [(each.start, each.end) for each in _figures(text)])


def _differs_in_a_figure(claim: str, sentence: str, title: str) -> bool:
    """True when one figure of each has no counterpart, and nothing else sets the two apart.

    A sentence need not say the whole title of its document, if that is what the claim is about.
    """
    ours, theirs = _figures(claim), _figures(sentence)
    gone = [each for each in ours if not any(is_same(each, other) for other in theirs)]
    came = [each for each in theirs if not any(is_same(each, other) for other in ours)]
    if len(gone) != 1 or len(came) != 1 or gone[0].kind != came[0].kind or came[0].weak:
        return False
    named = _tokens(title)
    subject = set(named) if " ".join(named) in " ".join(_tokens(claim)) else set[str]()
    if set(_tokens(_bare(claim))) - set(_tokens(_bare(sentence))) - subject:
        return False  # a word such as `not` stands in the claim alone
    further = set(_tokens(_bare(sentence))) - set(_tokens(_bare(claim)))
    # A small word more, such as `no` or `than`, may turn a sentence over: that is for a judge.
    if not all(stems(word) for word in further):
        return False
    return _around(claim, gone[0]) == _around(sentence, came[0])


def _around(text: str, figure: Statement) -> Sequence[str]:
    """The words before and after a figure; of a date the one before, as much may follow one."""
    before, after = _tokens(text[: figure.start])[-1:], _tokens(text[figure.end :])[:1]
    return before if figure.kind == "date" else [*before, "#", *after]
