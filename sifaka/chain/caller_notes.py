"""What a caller reads about the version that it has handed in: the question, ledger and sheet.

All of it is counted, not judged: what was kept, lost, changed and added, never if that is good.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from sifaka.record.results import MATTERS_OF_STYLE, Findings, Issue
from sifaka.record.thought import Thought
from sifaka.text.differences import Difference
from sifaka.text.limits import instruction_of, scope_of

NOT_MEASURED = "not measured: conditions, negation, who does what, how sure it is"
_QUOTED = 40
"""Characters of a value in a line."""
_ASKED = 6
_ABSENT = 8
"""Figures and lines of the task that are named where the text does not have them."""
_READ = 20_000
"""Characters that are read for stock prose."""
_NOTED = 4
"""Differences of one sort that are named; the structured answer has them all."""


def question_of(findings: Findings) -> str:
    """The open differences in a line; empty where none is open."""
    return _listed(findings.open, _ASKED)


def ledger_of(findings: Findings, *, with_sheet: bool = False) -> str:
    """What became of the original's statements in a version that was taken, in a line.

    Args:
        findings: Those of the version.
        with_sheet: True where a sheet is read beside it, which has all but the answers.
    """
    answered = [each for each in findings.differences if each.status in {"covered", "accepted"}]
    compared = findings.total or findings.differences
    lines = [
        f"kept {findings.kept} of {findings.total}" if findings.total else "",
        "; ".join(f"{in_words(each)} ({each.by})" for each in answered[:_NOTED])
        + _more(len(answered)),
    ]
    if not with_sheet:
        lines += [
            _listed(_noted(findings), _NOTED),
            "; ".join(
                f"{each.measured} {each.what}, asked for {each.limit}"
                for each in findings.asked
                if not each.met
            ),
            NOT_MEASURED if compared else "",
        ]
    return ". ".join(line for line in lines if line)


def start_of(version: Thought) -> tuple[str, ...]:
    """What is measured of an input against its task, before anybody writes."""
    stock = _stock_prose(version.text[:_READ])
    return (
        *_entered(version.findings),
        *_limits(version.findings, met=False),
        *((f"Stock prose? {stock}",) if stock else ()),
    )


def sheet_of(version: Thought) -> Iterator[str]:
    """The questions by which the caller reads its first version once more."""
    if version.prompt.strip():
        yield f"Does it do each part of the task? {_cut(instruction_of(version.prompt), 240)}"
    noted = _noted(version.findings)
    yield from _entered(version.findings)
    noted = [each for each in noted if each.kind != "not_entered"]
    if gone := [each for each in noted if not each.after]:
        yield f"Meant to go? {_listed(gone, _NOTED)}"
    if new := [each for each in noted if not each.before]:
        yield f"True, and asked for? {_listed(new, _NOTED)}"
    if edited := [each for each in noted if each.before and each.after]:
        yield f"The same sense? {_listed(edited, _NOTED)}"
    yield from _limits(version.findings)
    if mistakes := _mistakes(version):
        yield f"Mistakes? {'; '.join(mistakes)}"
    if stock := _stock_prose(version.text[:_READ]):
        yield f"Stock prose? {stock}"
    yield (
        "Once more as its reader: does the form fit how it is read? What would you still ask, "
        "misread, or do wrong by it? What in it is only yours? Read for yourself what is "
        f"{NOT_MEASURED}."
    )


def _entered(findings: Findings) -> Iterator[str]:
    listed = [d for d in findings.differences if d.kind == "not_entered"]
    absent = [repr(_cut(each.before, 60)) for each in listed if not each.after]
    if absent:
        more = _more(len(absent), _ABSENT)
        yield f"Left out on purpose? Of the task: {', '.join(absent[:_ABSENT])}{more}"
    if left := [each for each in listed if each.after]:
        yield f"Everywhere? {_listed(left, _NOTED)}"


def _limits(findings: Findings, *, met: bool = True) -> Iterator[str]:
    for limit in findings.asked:
        what = "" if limit.what == "language" else f" {limit.what}"
        if met or not limit.met:
            yield f"{limit.limit}{what}: it has {limit.measured}"


def in_scope(task: str, text: str, issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """The issues without those of the parts that the task leaves alone."""
    spans = scope_of(task, text)
    return tuple(
        issue
        for issue in issues
        if not (spans and issue.anchored)
        or any(start <= (issue.start or 0) < end for start, end in spans)
    )


def _mistakes(version: Thought) -> list[str]:
    found = (issue for f in version.critic_feedback for issue in f.issues)
    issues = in_scope(version.prompt, version.text, found)
    told = [
        f"{_cut(issue.quote)!r}: {issue.message}" + (f" -> {issue.fix!r}" if issue.fix else "")
        for issue in issues
        if issue.safe
        and issue.category not in MATTERS_OF_STYLE
        and issue.quote not in version.prompt
    ]
    return told[:_NOTED]


@lru_cache(maxsize=4)  # a brief is asked for several times in one answer
def _stock_prose(text: str) -> str:
    """The worst of it in a line; empty where a text has no more than people's texts have."""
    # An answer without a brief needs none of the editor.
    from sifaka.editor.parsed_text import ParsedText
    from sifaka.editor.style import USUAL, worst_habits
    from sifaka.text.formats import recognise

    issues, score = worst_habits(ParsedText.read(text, recognise(text)), _NOTED)
    if score is None or score >= USUAL:
        return ""
    return " ".join(f"{_cut(issue.quote)!r} {issue.message}" for issue in issues)


def in_words(difference: Difference) -> str:
    """A difference with both its values, in a few words."""
    before, after = _apart(difference.before, difference.after)
    if difference.kind == "length":
        return f"asked for {before}: it has {after}"
    if difference.kind == "not_entered":
        return f"{after!r} stands beside {before!r}" if after else f"not in it: {before!r}"
    if difference.kind == "order":
        return f"changed places: {before!r} and {after!r}"
    where = "outside the part you were to change: " if difference.kind == "scope" else ""
    told = f"{before!r} -> {after!r}" if before and after else ""
    return f"{where}{told or (f'lost {before!r}' if before else f'new {after!r}')}"


def _noted(findings: Findings) -> list[Difference]:
    # Limits stand by themselves.
    return [d for d in findings.differences if d.status == "noted" and d.kind != "length"]


def _listed(differences: Iterable[Difference], most: int) -> str:
    every = list(differences)
    return "; ".join(map(in_words, every[:most])) + _more(len(every), most)


def _more(count: int, most: int = _NOTED) -> str:
    return f"; and {count - most} more" if count > most else ""


def _apart(before: str, after: str) -> tuple[str, str]:
    """Both values, cut; of long ones that begin alike from the word where they part."""
    pairs = enumerate(zip(before, after, strict=False))
    start = next((at for at, (one, other) in pairs if one != other), 0)
    if before and after and start > _QUOTED // 2:
        start = before.rfind(" ", 0, start) + 1
        before, after = f"…{before[start:]}", f"…{after[start:]}"
    return _cut(before), _cut(after)


def _cut(words: str, most: int = _QUOTED) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
