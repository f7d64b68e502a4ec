"""How the research of a run went, as lines of plain text; foreign words stay on theirs."""

from collections.abc import Iterator

from sifaka_mcp.schemas.research import ResearchedOut
from sifaka_mcp.view.lines import flat, section, short

_MOST = 60
"""References; the structured part has them all."""


def research_lines(out: ResearchedOut) -> Iterator[str]:
    """The mode, the sections and the references of a research."""
    stops = f"   stopped by: {', '.join(map(flat, out.stop_reasons))}" if out.stop_reasons else ""
    yield f"research: {flat(out.mode)}{'   partial: yes' if out.partial else ''}{stops}"
    for number, each in enumerate(out.sections, 1):
        error = f": {flat(each.error)}" if each.error else ""
        rounds = f" after {each.iterations} iterations" if each.iterations else ""
        yield f"  {number}. {short(flat(each.title))}: {flat(each.status)}{rounds}{error}"
    yield from section(
        "references",
        [
            f"[{each.n}] {short(flat(each.title), 120)!r} {flat(each.url)}".rstrip()
            for each in out.references[:_MOST]
        ],
    )
    if len(out.references) > _MOST:
        yield f"  ... and {len(out.references) - _MOST} more"
