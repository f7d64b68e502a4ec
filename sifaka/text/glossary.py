"""The terms that parts of a text share: names, abbreviations, identifiers, quoted terms."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

MOST_TERMS = 200
"""Terms that are held together; those in the most parts."""
_LONGEST = 80
"""Characters of a term."""
_UPPER = "A-ZÀ-ÖØ-Þ"
_LINK = r"(?:of|of the|de|de la|du|von|van)"
_NAME = re.compile(
    rf"(?<![\w])[{_UPPER}][\w’'-]{{1,40}}(?:\s(?:{_LINK}\s)?[{_UPPER}][\w’'-]{{1,40}}){{1,5}}"
)
_DEFINED = re.compile(rf"\(([{_UPPER}][{_UPPER}0-9]{{1,9}})s?\)")
_ABBREVIATION = re.compile(rf"(?<!\w)[{_UPPER}][{_UPPER}0-9]{{1,9}}(?=s?(?!\w))")
_CODE = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_IDENTIFIER = re.compile(
    r"(?<![\w./])(?:[A-Za-z]\w{0,60}_\w{1,60}|[A-Za-z][a-z0-9]{1,40}[A-Z]\w{0,60})(?!\w)"
)
_QUOTED = re.compile(r"“([^“”\n]{2,80})”|(?<![\w\"])\"(?=\S)([^\"\n]{2,80})(?<=\S)\"(?![\w\"])")
_ENDS = " \t\r\n.!?:;#*->\"'“”(["
"""Characters before the first word of a sentence."""
_OPENING = frozenset(
    re.findall(
        r"\w+",
        """A Additionally Also Although An And As At Because Before Both But By During Each Every
        Finally For From Furthermore Hence How However If In It Its Meanwhile Moreover No Not Now
        Of On Once Only Or Our Please Recently Similarly Since So Some That The Their Then There
        Therefore These They This Those Though Thus To Today Under Until We What When Where Which
        While Who Why With Yet You Your""",
    )
)
"""Words with a capital letter at the beginning of a sentence, no part of the name after them."""


def shared_terms(parts: Sequence[str]) -> tuple[frozenset[str], ...]:
    """For each part of a text, the terms in it that another part has as well.

    A term is a name of several capitalised words, an abbreviation that some part defines in
    brackets, inline code, an identifier with an underscore or a capital inside, or what stands
    between double quotation marks. White space in terms is one space. At most `MOST_TERMS`
    different ones are given, the commonest first, so that the work is bounded.
    """
    defined = frozenset(m.group(1) for part in parts for m in _DEFINED.finditer(part))
    found = [frozenset(_terms(part, defined)) for part in parts]
    counted = Counter(term for terms in found for term in terms)
    ranked = sorted((-count, term) for term, count in counted.items() if count > 1)
    kept = frozenset(term for _, term in ranked[:MOST_TERMS])
    return tuple(terms & kept for terms in found)


def _terms(part: str, defined: frozenset[str]) -> Iterator[str]:
    for match in _NAME.finditer(part):
        words = match.group().split()
        while words and (words[0] in _OPENING or words[0].islower()):
            words.pop(0)
        if len(words) > 1:
            yield " ".join(words)
        # What opens a sentence may have its capital letter from that alone.
        if len(words) > 2 and not part[max(0, match.start() - 3) : match.start()].strip(_ENDS):
            yield " ".join(words[1:])
    yield from (m.group() for m in _ABBREVIATION.finditer(part) if m.group() in defined)
    for pattern in (_CODE, _IDENTIFIER, _QUOTED):
        for match in pattern.finditer(part):
            term = next(filter(None, match.groups()), match.group())
            flat = " ".join(term.split())
            if flat and len(flat) <= _LONGEST:
                yield flat
