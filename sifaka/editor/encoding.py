"""Text that was decoded with the wrong character set, repaired by `ftfy`."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import accumulate
from unicodedata import normalize

from sifaka.editor.parsed_text import ParsedText
from sifaka.errors import PluginError
from sifaka.record.results import Issue
from sifaka.text.tables import patterns_of

_PATTERNS = patterns_of(__file__, "encoding")


def encoding(parsed: ParsedText) -> Iterator[Issue]:
    """Places where repairing the encoding changes the text.

    Entities, quotation marks, wide characters and line ends stay as they are.

    Raises:
        PluginError: `ftfy` is not installed and the text has characters it would look at.
    """
    if not _PATTERNS["suspect"].search(parsed.text):
        return
    try:
        from ftfy import TextFixerConfig, fix_text
    except ImportError as error:
        raise PluginError("encoding: `ftfy` is not installed", "pip install ftfy") from error
    config = TextFixerConfig(
        unescape_html=False,
        uncurl_quotes=False,
        fix_character_width=False,
        fix_line_breaks=False,
        normalization="NFC",
        explain=False,
    )
    for match in _PATTERNS["stretch"].finditer(parsed.text):
        stretch = match.group()
        if _PATTERNS["suspect"].search(stretch):
            repaired = fix_text(stretch, config)
            if repaired != stretch:
                yield from _find_changes(parsed, match.start(), stretch, repaired)


def _find_changes(parsed: ParsedText, offset: int, line: str, repaired: str) -> Iterator[Issue]:
    before, after = _PATTERNS["pieces"].findall(line), _PATTERNS["pieces"].findall(repaired)
    places = list(accumulate(map(len, before), initial=offset))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        start, end = places[i], places[j]
        if kind == "equal" or parsed.protected.touches(start, end):
            continue
        fix = "".join(after[k:m])
        message = _describe_change(parsed.text[start:end], fix)
        # Alone it may be the topic: "if you see â€™".
        safe = bool(_PATTERNS["word"].search(parsed.text, start, end)) or fix in {"–", "—", "…"}
        yield parsed.issue((start, end), fix, message, "encoding", "encoding", safe=safe)


def _describe_change(before: str, after: str) -> str:
    if not after.strip():
        return "stray characters"
    if normalize("NFC", before) == after:
        return f'"{after}" is written with separate accents'
    return f'wrong encoding of "{after}"'
