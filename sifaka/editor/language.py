"""Which paragraphs are not English, so that rules for English leave them alone."""

import re
from collections.abc import Iterator

from sifaka.editor.lexicon import lexicon
from sifaka.prose import Span

_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
# Words of several languages ("a", "in", "no", "die") are left out: they tell nothing.
_ENGLISH = lexicon(
    "the and of to is that for with are this it you was be from by not have or we can will",
    "your has but they which when if its at there what how more than our were been their",
    "would should could",
)
_OTHER = lexicon(
    # French, German, Spanish, Italian, Portuguese, Dutch, Swedish, Polish
    "le la les des et une est que qui dans pour avec sur pas vous nous ce cette du au aux il elle",
    "der das und ist nicht ein eine einen dem von mit für sich auch werden zu im wir sie auf als",
    "el los las por con para del una su como más pero",
    "di che per non della sono il anche questo delle gli",
    "os um uma não com mais foi são ao",
    "het een van niet voor zijn deze wordt ook",
    "och att det som är på inte till av ett",
    "nie się jest że oraz",
)


def foreign(text: str) -> Iterator[Span]:
    """The paragraphs that look like another language than English.

    A paragraph of fewer than six words gives no evidence and goes with the whole text.
    """
    whole = _looks_foreign(_WORD.findall(text))
    for match in _PARAGRAPH.finditer(text):
        words = _WORD.findall(match.group())
        if _looks_foreign(words) if len(words) >= 6 else whole:
            yield match.span()


def _looks_foreign(words: list[str]) -> bool:
    if not words:
        return False
    lowered = [word.lower() for word in words]
    english = sum(word in _ENGLISH for word in lowered)
    other = sum(word in _OTHER for word in lowered)
    other += sum(not word.isascii() and ord(word[0]) > 0x36F for word in lowered)
    return other > english and other >= 2
