"""The sections of a report as one text, written to follow each other.

Nothing is added to what the sections say. A version with another number, date, name or citation is
not taken, and without an answer the sections stay as they are.
"""

from collections.abc import Sequence

from sifaka.calls.journal import scope
from sifaka.errors import BudgetExceeded
from sifaka.research.agents.report import LONG_WRITER, NextSection, long_writer_prompt
from sifaka.research.draft import tidied
from sifaka.research.progress import Work
from sifaka.research.references import cited, renumbered
from sifaka.research.state import ReportSection
from sifaka.text.differences import compare

_LEAST = 0.5
"""The part of a draft's length that the section has at least."""


async def in_context(
    work: Work, sections: Sequence[ReportSection]
) -> tuple[tuple[ReportSection, ...], tuple[str, ...]]:
    """The sections, each written again to follow from those before it; and lines about failures.

    One call for each section that a model has written but the first, up to one that fails.
    """
    done: list[ReportSection] = []
    outline = [section.title for section in sections]
    for section in sections:
        before = _shown([each for each in done if each.status == "done"])
        if section.written != "model" or section.status != "done" or not before:
            done.append(section)
            continue
        await work.desk.tell("synthesizing", f"writing {section.title!r}", section=section.number)
        prompt = long_writer_prompt(
            work.question, outline=outline, before=before, title=section.title, draft=section.text
        )
        with scope(f"writing {section.number}"):
            said = await work.advice(LONG_WRITER, prompt)
        if not isinstance(said, NextSection):
            reason = f"the long_writer has failed: {said.message}"
            if isinstance(said, BudgetExceeded):
                reason = f"no room for the long_writer ({said.limit})"
            rest = sections[len(done) :]
            return (*done, *rest), (f"{reason}; sections stay as they were drafted",)
        done.append(_replaced(section, said.section))
    return tuple(done), ()


def _replaced(section: ReportSection, said: str) -> ReportSection:
    """The section with the text of the long writer, or as it is with the reason."""
    text = tidied(said, section.title)
    known, mine = {each.number for each in section.findings}, set(cited(section.text))
    problem = ""
    if len(text) < _LEAST * len(section.text):
        problem = "it leaves out too much"
    elif not set(cited(text)) <= known or bool(cited(text)) != bool(mine):
        problem = "it cites something else"
    else:
        basis = "\n\n".join((section.text, *(each.document.text for each in section.findings)))
        # A section is shorter than what it is drawn from: what it leaves out is no problem.
        found = compare(_bare(basis), _bare(text)).differences
        added = [each.after for each in found if each.status == "open" and each.after]
        problem = f"it says {added[0]!r}, which nothing found says" if added else ""
    if not problem:
        findings = tuple(each for each in section.findings if each.number in cited(text))
        return section.model_copy(update={"text": text, "findings": findings})
    line = f"{section.title!r} stays as it was drafted; the long writer's version: {problem}"
    return section.model_copy(update={"degraded": (*section.degraded, line)})


def _bare(text: str) -> str:
    """The text without its citations."""
    return renumbered(text, {})[0]


def _shown(sections: Sequence[ReportSection]) -> str:
    return "\n\n".join(f"## {each.title}\n\n{_bare(each.text)}" for each in sections)
