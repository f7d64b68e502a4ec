"""The words that two texts share, which tell whether they can be about the same thing."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
_STEM = 5
"""Letters by which forms of a word are the same: `erupted` and `eruption`."""
_SHORTEST = 3
"""Letters of a word that tells something, unless it is a number."""
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        """about also and any are but can could did does for from had has have how its may might
        much must not shall should some than that the their them there these they this those was
        were what when where which who whom whose why will with would you your into been being
        der die das den dem des und ist sind war ein eine einer eines mit von für auf nicht auch
        les des une est sont dans pour par sur qui que pas aux avec
        los las una del con por para que fue son está""",
    )
)
"""Words that stand in texts about anything."""


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, without case, accents and endings; of Chinese pairs of signs."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    found = {
        word[:_STEM] if word.isalpha() else word
        for word in _WORD.findall(_UNSPACED.sub(" ", plain))
        if (len(word) >= _SHORTEST or not word.isalpha()) and word not in _EMPTY
    }
    for run in _UNSPACED.findall(plain):
        found |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(found)


def overlap(wanted: str, text: str) -> float:
    """The share of the telling words of what is wanted that stand in a text, 0 to 1.

    It is 1 where nothing telling is wanted.
    """
    asked = stems(wanted)
    return len(asked & stems(text)) / len(asked) if asked else 1.0


RELEVANT = 0.34
"""The overlap from which a document that no model has judged may be quoted for a question."""
NAMED = 0.2
"""The same for a claim, of which a document may know the subject and no more."""
