"""Comparing what a document shows with what really comes out."""

import re
from collections.abc import Mapping
from typing import cast

_RUN_ID = "run_[0-9a-f]{16}"
_TIME = r"\d{4}-\d\d-\d\dT[\d:.+]+"
_SECONDS = r"\b\d+\.\d\d s\b"
_TOKEN = re.compile(
    rf"(?P<run>{_RUN_ID})|(?P<time>{_TIME})|(?P<seconds>{_SECONDS})"
    r"|(?P<lines>^\.\.\.$)|(?P<rest>\.\.\.$)",
    re.MULTILINE,
)
_MEANING: Mapping[str, str] = {
    "run": f"({_RUN_ID})",
    "time": _TIME,
    "seconds": _SECONDS,
    "lines": r"(?:.*\n)*?.*",
    "rest": r".*",
}
"""What may stand where the document shows something that differs from one time to the next."""


class Names:
    """The ids that a document shows, and the real ones they stand for."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}

    def put_into(self, text: str) -> str:
        """The text with the real ids in it."""
        return re.sub(_RUN_ID, lambda match: self._real.get(match.group(), match.group()), text)

    def check_text(self, shown: str, real: str) -> None:
        """Fail unless the real output is the one that is shown.

        A line of three dots stands for any lines, dots at a line's end for its rest.
        """
        shown, real = _trimmed(shown), _trimmed(real)
        match = re.fullmatch(_pattern(shown), real)
        assert match, f"the document shows\n{shown}\n\nand this came out\n{real}"
        for name, value in zip(re.findall(_RUN_ID, shown), match.groups(), strict=True):
            known = self._real.setdefault(name, value)
            assert known == value, f"{name} stands for two ids"

    def check_json(self, shown: object, real: object, place: str = "answer") -> None:
        """Fail unless all that is shown is in the real answer, which may hold more."""
        if isinstance(shown, dict):
            assert isinstance(real, dict), place
            fields = cast("dict[str, object]", real)
            for key, value in cast("dict[str, object]", shown).items():
                assert key in fields, f"{place} has no {key!r}"
                self.check_json(value, fields[key], f"{place}.{key}")
        elif isinstance(shown, list):
            assert isinstance(real, list), place
            pairs = zip(cast("list[object]", shown), cast("list[object]", real), strict=True)
            for number, (value, item) in enumerate(pairs):
                self.check_json(value, item, f"{place}[{number}]")
        elif isinstance(shown, str):
            assert isinstance(real, str), place
            self.check_text(shown, real)
        else:
            assert shown == real, place


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def _pattern(shown: str) -> str:
    pattern, end = "", 0
    for token in _TOKEN.finditer(shown):
        assert token.lastgroup
        pattern += re.escape(shown[end : token.start()]) + _MEANING[token.lastgroup]
        end = token.end()
    return pattern + re.escape(shown[end:])
