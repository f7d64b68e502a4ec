"""The texts of sections: as a model wrote them, put right, and those that no model has written."""

import re
from collections.abc import Sequence

from sifaka.research.citations import literal
from sifaka.research.findings import Finding, one_line
from sifaka.research.limits import Stop, in_order
from sifaka.text.markdown import blocks_of, open_fence
from sifaka.validators.report_lines import UNWRITTEN

_REFERENCES = re.compile(
    r"\W*(?:references|sources|bibliography|works cited|citations)\W*", re.IGNORECASE
)


def tidied(text: str, title: str) -> str:
    """A draft as it fits under its heading: its own come below, and references are made by us."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    kept: list[str] = []
    for name, body in _sections(text):
        if name and _REFERENCES.fullmatch(name):
            continue
        is_title = not kept and one_line(name).casefold() == one_line(title).casefold()
        if name and not is_title:
            kept.append(f"### {name}")
        if body:
            kept.append(body)
    tidy = "\n\n".join(kept)
    # What comes after the section must not become part of its code.
    fence = open_fence(tidy)
    return f"{tidy}\n{fence}" if fence else tidy


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
    headings = [block for block in blocks_of(text) if block.level]
    starts = [0, *(block.end for block in headings)]
    ends = [*(block.start for block in headings), len(text)]
    names = ["", *(block.title for block in headings)]
    bodies = [text[start:end].strip("\n") for start, end in zip(starts, ends, strict=True)]
    return [pair for pair in zip(names, bodies, strict=True) if any(pair)]
