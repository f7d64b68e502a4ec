"""HTML: what of it is not prose."""

from collections.abc import Iterator

from sifaka.text.formats.markup_spans import Closings, Mark, with_its_word
from sifaka.text.tables import patterns_of, words_of

_TOKEN = patterns_of(__file__, "html")["token"]
_NAMES = words_of(__file__, "html")
_CLOSING = {"<?": "?>", "<%": "%>", "{{": "}}", "{%": "%}", "{#": "#}"}


def marks(text: str) -> Iterator[Mark]:
    """Tags with their attributes, comments, entities, and elements of code, scripts and styles."""
    closings = Closings(text.lower())
    at = 0
    while match := _TOKEN.search(text, at):
        start, at = match.span()
        if match["entity"]:
            is_sign = match.group() in _NAMES["signs"]
            yield Mark(start, at, "style") if is_sign else with_its_word(text, start, at)
            continue
        if match["comment"] or match["cdata"] or match["script"]:
            closing = _CLOSING.get(match.group(), "-->" if match["comment"] else "]]>")
            at = closings.after(closing, at, at)
            yield Mark(start, at, "style" if match["comment"] else "code")
            continue
        name = (match["name"] or "").lower()
        if (
            name in _NAMES["verbatim"]
            and not match["close"]
            and not (match["attributes"] or "").endswith("/")
        ):
            end = closings.after(f"</{name}", at, len(text))
            close = text.find(">", end) + 1
            if name in {"script", "style"} and not close:
                close = len(text)
            at = max(at, close)
            yield Mark(start, at, "code" if name in _NAMES["in_a_line"] else "block")
        else:
            yield Mark(start, at, "style" if name in _NAMES["in_a_line"] else "block")
