"""The one analyzer that the store's index asks for, `whitespace`; another one is refused."""

import re
from collections.abc import Sequence

ANALYZERS = frozenset({"whitespace"})
_LONGEST = 255


def tokens(text: str) -> Sequence[str]:
    """The terms of a text, in order; what is longer is cut, as in Lucene."""
    return [part for word in text.split() for part in re.findall(f".{{1,{_LONGEST}}}", word)]
