"""What an edit does to one document."""

from dataclasses import dataclass
from pathlib import Path

from sifaka.editor import AppliedEdit, edit
from sifaka.text.formats import UNCHECKED, Format, recognise
from tests.formats_corpus.scramble import scrambled
from tests.formats_corpus.skeletons import Skeleton, Unreadable, skeleton


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A document, its edits, and the structure before and after."""

    path: Path
    format: Format
    edits: tuple[AppliedEdit, ...] = ()
    contexts: tuple[str, ...] = ()
    """The text around each edit."""
    words: int = 0
    """Words that were replaced at once."""
    unreadable: str = ""
    """Why the reader refused it; empty when it was compared."""
    changed: str = ""
    """The first difference that the edits made to its skeleton."""
    broken: str = ""
    """The first difference that the replacement of all free words made."""


def trial(path: Path) -> Trial | None:
    """The trial of a document; None for one that is not checked or not UTF-8."""
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n").removeprefix("\ufeff")
    except (OSError, UnicodeDecodeError):
        return None
    format_ = recognise(text, path)
    if format_ in UNCHECKED or "\0" in text or len(text) > 200_000:
        return None
    try:
        before = skeleton(text, format_)
    except Unreadable as error:
        return Trial(path=path, format=format_, unreadable=str(error))
    done = edit(text, format=format_)
    other, words = scrambled(text, format_)
    return Trial(
        path=path,
        format=format_,
        edits=done.edits,
        contexts=tuple(text[max(0, e.start - 60) : e.start + 60] for e in done.edits),
        words=words,
        changed=_difference(before, done.text, format_) if done.edits else "",
        broken=_difference(before, other, format_),
    )


def _difference(before: Skeleton, text: str, format_: Format) -> str:
    try:
        after = skeleton(text, format_)
    except Unreadable as error:
        return f"unreadable: {error}"
    for one, other in zip(before, after, strict=False):
        if one != other:
            return f"{one!r} became {other!r}"
    return "" if len(before) == len(after) else f"{len(before)} parts became {len(after)}"
