"""Word lists, written as running text so that they stay readable."""


def lexicon(*lines: str) -> frozenset[str]:
    """The words of the lines."""
    return frozenset(word for line in lines for word in line.split())
