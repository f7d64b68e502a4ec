"""Texts made to be slow, of any length."""

from collections.abc import Callable, Mapping

Made = Callable[[int], str]
"""A text of so many characters."""


def repeated(piece: str) -> Made:
    """A piece over and over."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def numbered(piece: str) -> Made:
    """A piece with a number of its own each time: nothing is there twice."""

    def made(size: int) -> str:
        count = size // len(piece.format(100_000)) + 1
        return "".join(map(piece.format, range(100_000, 100_000 + count)))[:size]

    return made


def nested(opening: str, closing: str) -> Made:
    """As many openings as closings."""

    def made(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + closing * depth

    return made


TEXTS: Mapping[str, Made] = {
    "one word": repeated("word "),
    "one letter": repeated("a"),
    "one line": numbered("Firm {} had 12 men on 3 May 2020, and it was nice. "),
    "one sentence": numbered("because he go to Rome {} and she have it, "),
    "short lines": repeated("ab cd\n"),
    "nested lists": repeated("- a\n  - b\n    - c\n      - d\n        - e\n"),
    "parentheses": nested("(", ")"),
    "brackets": nested("[", "]"),
    "objects": nested('{"a":', "}"),
    "open links": repeated("[(a "),
    "tags": repeated("<a "),
    "reasoning": repeated("<think>a\n"),
    "headings": repeated("# Head\n"),
    "fences": repeated("```\na\n"),
    "quotation marks": repeated('"'),
    "numbers": repeated("1,000.5 "),
    "names": numbered("Anna{} Berg "),
    "addresses": repeated("http://a.b/c?d "),
    "full stops": repeated("."),
    "dashes": repeated("-"),
    "blanks": repeated(" "),
    "blank lines": repeated("\n"),
    "emoji": repeated("😀"),
    "marks": repeated("e\u0301\u0302"),
    "Chinese": repeated("我们昨天去了公园，天气很好。"),
    "Arabic": repeated("شاهد الرجل البيت. "),
    "Thai": repeated("สวัสดีชาวโลก"),
    "one family": repeated("👨\u200d👩\u200d👧\u200d👦\u200d"),
    "one letter with marks": lambda size: "e" + "\u0301" * (size - 1),
    "turned round": repeated("\u202eabc\u202c \u2067def\u2069 "),
    "base64": numbered("QmFzZTY0{}VGV4dA"),
    "elements": nested("<div>", "</div>"),
    "comments": repeated("<!-- a "),
    "empty items": repeated("- \n"),
    "rows": repeated("| teh cat | is is |\n"),
    "notes": numbered("Text[^{0}].\n\n[^{0}]: A note.\n\n"),
    "addresses of links": numbered("[ref{}]: http://a.b 'x'\n"),
    "uses of links": numbered("[a][ref{}] "),
    "longer fences": lambda size: " ".join("`" * at for at in range(1, 600))[:size],
    "stars": repeated("*a **b "),
    "patterns": repeated(r"(a|aa)+$ [^\w]*?(?:x+x+)+y \1{2,} "),
    "backslashes": repeated("\\"),
    "formulas": nested("{", "}"),
    "dates": repeated("3 May 2020, 2020-05-03T12:00:00Z, 5/3/20. "),
    "number words": repeated("twenty one hundred and five thousand "),
    "claims": numbered("The firm {} is not in Rome. "),
    "sources": repeated("(Smith et al., 2020) [1, 2] "),
    "mistakes": repeated("I has teh apple of there, and and he go in order to eat it. "),
}
