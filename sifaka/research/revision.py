"""The sections of a report as one text: written to follow each other, and proofread.

Neither step adds to what the sections say. A version with another number, date, name or citation
is not taken, and without an answer the sections stay as they are.
"""

import logging
from collections.abc import Sequence
from typing import TypeVar

from sifaka.calls.failure_log import report_failure
from sifaka.calls.journal import scope
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.coercion import Form
from sifaka.research.agents.agent import ResearchAgent, consult
from sifaka.research.agents.revision import (
    LONG_WRITER,
    PROOFREADER,
    Correction,
    long_writer_prompt,
    proofreader_prompt,
)
from sifaka.research.draft import tidied
from sifaka.research.progress import Work
from sifaka.research.references import cited, renumbered
from sifaka.research.state import ReportSection
from sifaka.text.differences import Difference, compare

logger = logging.getLogger(__name__)
Output = TypeVar("Output", bound=Form)
_LEAST = 0.5
"""The part of a draft's length that the section has at least."""
_LONGEST = 300
"""Characters of what one correction replaces."""


async def in_context(
    work: Work, sections: Sequence[ReportSection]
) -> tuple[tuple[ReportSection, ...], tuple[str, ...]]:
    """The sections, each written again to follow from those before it; and lines about failures.

    One call for each section that a model has written but the first.
    """
    done: list[ReportSection] = []
    outline, lines = [section.title for section in sections], list[str]()
    for section in sections:
        before = _shown([each for each in done if each.status == "done"], citing=False)
        if section.written != "model" or section.status != "done" or not before or lines:
            done.append(section)
            continue
        await work.desk.tell("synthesizing", f"writing {section.title!r}", section=section.number)
        prompt = long_writer_prompt(
            work.question, outline=outline, before=before, title=section.title, draft=section.text
        )
        with scope(f"writing {section.number}"):
            said, line = await _asked(work, LONG_WRITER, prompt)
        lines += [f"{line}; sections stay as they were drafted"] if line else []
        done.append(_replaced(section, said.section) if said is not None else section)
    return tuple(done), tuple(lines)


async def proofread(
    work: Work, sections: Sequence[ReportSection]
) -> tuple[tuple[ReportSection, ...], tuple[str, ...]]:
    """The sections with their mistakes corrected; and lines about failures. One call."""
    written = [each for each in sections if each.status == "done" and each.written == "model"]
    if not written:
        return tuple(sections), ()
    await work.desk.tell("synthesizing", f"proofreading {len(written)} sections")
    said, line = await _asked(work, PROOFREADER, proofreader_prompt(_shown(written, citing=True)))
    if said is None:
        return tuple(sections), (f"{line}; the report was not proofread",)
    corrected = list(sections)
    for edit in said.edits:
        places = [n for n, each in enumerate(corrected) if edit.find in each.text]
        if len(places) == 1 and corrected[places[0]] in written and _is_harmless(edit):
            section = corrected[places[0]]
            if section.text.count(edit.find) == 1:
                text = section.text.replace(edit.find, edit.replace)
                corrected[places[0]] = section.model_copy(update={"text": text})
                written.append(corrected[places[0]])
    return tuple(corrected), ()


async def _asked(
    work: Work, agent: ResearchAgent[Output], prompt: str
) -> tuple[Output | None, str]:
    """The answer of an agent; None with the reason, in one line."""
    assert work.model is not None, "without a model the caller writes"
    try:
        return await consult(agent, work.model, prompt, history=work.history), ""
    except BudgetExceeded as error:
        return None, f"no room for the {agent.name} ({error.limit})"
    except ModelProviderError as error:
        # A report that is less well written is better than none.
        report_failure(logger, f"research:{agent.name}", error, run_id=work.desk.run.run_id)
        return None, f"the {agent.name} has failed: {error.message}"


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
        added = [each for each in _open(basis, text) if each.after]
        problem = f"it says {added[0].after!r}, which nothing found says" if added else ""
    if not problem:
        findings = tuple(each for each in section.findings if each.number in cited(text))
        return section.model_copy(update={"text": text, "findings": findings})
    line = f"{section.title!r} stays as it was drafted; the long writer's version: {problem}"
    return section.model_copy(update={"degraded": (*section.degraded, line)})


def _is_harmless(edit: Correction) -> bool:
    """True for a correction that changes no fact, citation or structure."""
    find, put = edit.find, edit.replace
    if max(len(find), len(put)) > _LONGEST or "\n" in find or "\n" in put or find == put:
        return False
    return cited(find) == cited(put) and not _open(find, put) and "#" not in put


def _open(one: str, other: str) -> list[Difference]:
    """What another text says otherwise, apart from citations."""
    found = compare(_bare(one), _bare(other)).differences
    return [each for each in found if each.status == "open"]


def _bare(text: str) -> str:
    """The text without its citations."""
    return renumbered(text, {})[0]


def _shown(sections: Sequence[ReportSection], *, citing: bool) -> str:
    return "\n\n".join(
        f"## {each.title}\n\n{each.text if citing else _bare(each.text)}" for each in sections
    )
