"""The texts of sections: as a model wrote them, put right, and those that no model has written."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from sifaka.research.citations import literal
from sifaka.research.findings import Finding, one_line
from sifaka.research.limits import Stop, in_order
from sifaka.validators.report_lines import UNWRITTEN

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_REFERENCES = re.compile(
    r"\W*(?:references|sources|bibliography|works cited|citations)\W*", re.IGNORECASE
)


def tidied(text: str, title: str) -> str:
    """A draft as it fits under its heading: its own come below, and references are made by us."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    parts = _sections(text)
    kept: list[str] = []
    for heading, body in parts:
        name = heading.lstrip("# ").rstrip("# ")
        if heading and _REFERENCES.fullmatch(name):
            continue
        is_title = not kept and one_line(name).casefold() == one_line(title).casefold()
        if heading and not is_title:
            kept.append(f"### {name}")
        if body:
            kept.append(body)
    tidy = "\n\n".join(kept)
    # What comes after the section must not become part of its code.
    fences = _FENCE.findall(tidy)
    return f"{tidy}\n{fences[-1]}" if len(fences) % 2 else tidy


def plain(findings: Sequence[Finding], stops: Sequence[Stop]) -> str:
    """What was found, word for word, where there was no room for a call to write with."""
    if not findings:
        return f"Nothing was found{_because(stops)}."
    lead = f"What was found stands here as it was found{_because(stops)}:"
    return f"{lead}\n\n{quoted(findings)}"


def outlined(findings: Sequence[Finding]) -> str:
    """What the caller writes a section from."""
    found = quoted(findings) if findings else "Nothing was found for it."
    return f"{UNWRITTEN}\n\n{found}"


def quoted(findings: Sequence[Finding]) -> str:
    """A list of the findings' words, each with its citation."""
    return "\n".join(
        f"- “{literal(one_line(words))}” [{finding.number}]"
        for finding in findings
        for words in finding.words
    )


def _because(stops: Sequence[Stop]) -> str:
    told = [stop for stop in in_order(stops) if stop != "iterations"]
    return f", as the budget of {' and '.join(told)} was spent" if told else ""


def _sections(text: str) -> list[tuple[str, str]]:
    """The headings of a text and what stands below each; the first heading may be empty."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    marks = [m for m in _HEADING.finditer(text) if bisect_left(fences, m.start()) % 2 == 0]
    starts = [0, *(match.end() for match in marks)]
    ends = [*(match.start() for match in marks), len(text)]
    headings = ["", *(match.group().strip() for match in marks)]
    bodies = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [pair for pair in zip(headings, bodies, strict=True) if any(pair)]
