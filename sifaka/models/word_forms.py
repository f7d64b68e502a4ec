"""When two words in a model's answer are the same word."""


def normal(word: str) -> str:
    """A word without its case and the punctuation around it."""
    return word.strip(" \t\r\n.,;:!?*_`'\"").casefold()


def same(one: object, other: object) -> bool:
    """Whether two values of one key say the same, the spelling of words apart."""
    if isinstance(one, str) and isinstance(other, str):
        return normal(one) == normal(other)
    return type(one) is type(other) and one == other
