"""A question as search servers take it."""

import unicodedata

MOST_CHARS = 400
"""Of a query; servers bound the clauses that they make of it, and a URL has an end too."""


def plain_query(query: str) -> str:
    """The query in one line of bounded length, without characters that no server could be sent.

    Returns:
        Whole words only; empty when there is nothing to look for.
    """
    shown = "".join(c if _is_text(c) else " " for c in unicodedata.normalize("NFC", query))
    line = " ".join(shown.split())
    if len(line) > MOST_CHARS:
        cut = line[: MOST_CHARS + 1].rsplit(" ", 1)
        line = cut[0] if len(cut) > 1 else line[:MOST_CHARS]
    return line if any(c.isalnum() for c in line) else ""


def _is_text(character: str) -> bool:
    # Control characters, and halves of surrogate pairs; joiners are parts of words in some scripts.
    return unicodedata.category(character) not in {"Cc", "Cs", "Co", "Cn"}
