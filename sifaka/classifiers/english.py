"""The texts that word lists and formulas for English say nothing about."""

from sifaka.text.language import tell_language
from sifaka.text.markdown import code_spans
from sifaka.text.prose import urls
from sifaka.text.sentences import blanked

_CERTAIN = 0.5


def other_language(text: str) -> str | None:
    """The ISO 639-1 code of a text that is surely not English; code and URLs do not count."""
    told = tell_language(blanked(text, [*code_spans(text), *urls(text)]))
    return told.language if told.language != "en" and told.confidence >= _CERTAIN else None


def reads_as(language: str, coverage: str) -> str:
    """The coverage of a classifier that has not examined a text of another language."""
    return f"{coverage}; the text reads as {language!r}"
