"""Finding what a critic quotes in the text it is about."""

from sifaka.prose import Span

_SIMILAR = 90.0
"""Percent of likeness from which a quote counts as found; below it, it was invented."""


def anchor(text: str, quote: str) -> Span | None:
    """Where the quote stands: exactly, else the most similar place, else nowhere.

    Returns:
        The offsets of the first occurrence, or None when nothing in the text is like the quote.
    """
    quote = quote.strip()
    if not quote:
        return None
    start = text.find(quote)
    if start >= 0:
        return start, start + len(quote)
    if len(quote) < 4:  # too little to be recognised in another spelling
        return None
    from rapidfuzz import fuzz

    found = fuzz.partial_ratio_alignment(quote, text, processor=None, score_cutoff=_SIMILAR)
    if found is None or found.dest_end <= found.dest_start:
        return None
    return found.dest_start, found.dest_end
