"""HTML, by turbohtml, as the standard says: what a parser would have to mend or drop fails."""

from sifaka.text.tables import patterns_of
from sifaka.validators.format.reading import (
    Locate,
    Malformed,
    Schema,
    line_starts,
    no_place,
    plain,
    refuse,
)
from sifaka.validators.format.schema import Json

_NEEDS_NO_END = patterns_of(__file__, "html")["needs_no_end"]
_OF_DOCUMENTS = {"html", "head", "body", "frameset"}


def read(text: str, schema: Schema | None) -> tuple[Json, Locate]:
    """No value, of a text that is HTML, a document or a fragment.

    Raises:
        Malformed: It has no tag, one that closes or opens nothing where it is, an element that
            is not closed and has to be, an identifier or attribute twice, or another of the parse
            errors of the standard.
    """
    from turbohtml import Namespace, TokenType, parse, parse_fragment, tokenize

    starts = line_starts(text)
    marks = {
        starts[each.line - 1] + each.col: each
        for each in tokenize(text)
        if each.type is not TokenType.TEXT
    }
    last = max(marks, default=-1)
    document = parse(text, source_locations=True)
    faults = [
        (
            text.find("<", last + (each.code == "eof-in-tag"))
            if each.code.startswith("eof")
            else starts[each.line - 1] + each.col,
            plain(each.code).replace("-", " "),
        )
        for each in document.errors
    ]
    tags = {at: each for at, each in marks.items() if each.tag}
    if not (tags or faults):
        raise Malformed("it has no tag")
    is_whole = any(each.tag in _OF_DOCUMENTS for each in tags.values())
    root = document if is_whole else parse_fragment(text, "template", source_locations=True)
    ids: dict[object, int] = {}
    seen: set[int] = set()
    for element in root.iter_elements():
        if (location := element.source_location) is None:  # the parser has added it
            continue
        spans = [each for each in (location.start_tag, location.end_tag) if each is not None]
        at, *closed = (starts[each.start_line - 1] + each.start_col for each in spans)
        seen |= {at, *closed}
        end = starts[spans[0].end_line - 1] + spans[0].end_col
        is_empty = element.namespace is not Namespace.HTML and text.endswith("/>", at, end)
        if not (closed or is_empty or _NEEDS_NO_END.fullmatch(element.tag)):
            faults.append((at, f"<{element.tag}> is not closed"))
        if ids.setdefault(element.attrs.get("id") or at, at) != at:
            faults.append((at, f"the id {element.attrs['id']!r:.60} is given twice"))
    texts = {
        TokenType.START_TAG: "<{}> is not allowed here",
        TokenType.END_TAG: "no <{}> is open that it could close",
    }
    faults += [
        (at, plain(texts[tag.type].format(tag.tag))) for at, tag in tags.items() if at not in seen
    ]
    refuse(faults)
    return None, no_place
