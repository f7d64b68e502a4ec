"""Results as plain text, complete enough to act on without the structured part.

What critics, validators and texts say stays on its line, so that it cannot pretend to be one of
ours, and a text is between marks that it cannot foresee.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sifaka.models.prompt import frame
from sifaka_mcp.safe_text import because
from sifaka_mcp.safe_text import section as _section
from sifaka_mcp.schemas.history import HistoryOut, ThoughtOut
from sifaka_mcp.schemas.runs import (
    BriefOut,
    CheckOut,
    HunkOut,
    ResearchedOut,
    ResearchOut,
    ResearchSubmitOut,
    RunAnswer,
    SubmitOut,
)
from sifaka_mcp.schemas.verdicts import (
    CritiqueOut,
    CritiqueTextOut,
    DifferenceOut,
    IssueOut,
    UsageOut,
    ValidateOut,
    ValidationOut,
)
from sifaka_mcp.schemas.wire import Remark

RESEARCHED = (ResearchOut, ResearchSubmitOut)
_MOST, _CHANGES = 40, 10
"""Lines of one kind; more would bury the rest. The structured part has them all."""
_MOST_REFERENCES = 60


def verdicts(out: ValidateOut) -> str:
    """The text of `validate_text`."""
    lines = verdict_lines(out.results)
    return "\n".join([f"passed: {_yes(out.passed)}", *lines, *_more_lines(out.next_cursor)])


def critique(out: CritiqueTextOut) -> str:
    """The text of `critique_text`."""
    has_faults = out.issues or out.differences or out.verdict == "revise"
    is_read = any(critic.scores or not (critic.reason or out.degraded) for critic in out.critiques)
    outcome = "rules found nothing" if is_read else "nothing was checked"
    outcome = "what rules found is below" if has_faults else outcome
    note = "" if out.rubric is None else f" ({outcome}; nobody judged the meaning)"
    lines = (
        f"verdict: {out.verdict}{note}",
        *(line for critic in out.critiques for line in _critique_lines(critic, with_scores=True)),
        *_section("issues", issue_lines(out.issues)),
        *_section("differences", [_difference_line(each) for each in out.differences]),
        *_section("judge the rest by this rubric", [f"- {line}" for line in out.rubric or []]),
        *_section("degraded", degraded_lines(out.degraded)),
        *_more_lines(out.next_cursor),
    )
    return "\n".join(lines)


def improvement(out: RunAnswer, *, is_linked: bool = False) -> str:
    """The text of a run after some work on it.

    Args:
        out: The answer.
        is_linked: True where the run's text is linked below it.
    """
    waits = out.brief is not None
    is_kept = out.status == "done" and isinstance(out, SubmitOut) and not out.left
    results = [each for each in out.validation_results if not (waits and each.passed)]
    is_accepted = isinstance(out, SubmitOut) and out.accepted
    lines = [
        *_fate_lines(out),
        *_state_lines(out),
        *(_research_section(out.research) if isinstance(out, RESEARCHED) else ()),
        *verdict_lines(results),
        *(_section("changes", _change_lines(out.diff, _CHANGES)) if out.text is not None else ()),
        *_section("found", issue_lines(out.brief.issues if out.brief else out.left)),
        *(_section("found, and kept by you", issue_lines(out.issues)) if is_kept else ()),
        *(() if waits else _section("not checked", unchecked_lines(out.checked))),
        *(() if waits or is_accepted else turned_down_lines(out)),
        *_section("degraded", degraded_lines(out.degraded)),
        *_brief_lines(out.brief),
        "",
        *_text_lines(out, is_linked=is_linked),
    ]
    return "\n".join(lines)


def _fate_lines(out: RunAnswer) -> Iterator[str]:
    """What became of the version that was handed in, and of what the original says."""
    ledger = f" {out.ledger}." if out.ledger else ""
    if isinstance(out, SubmitOut) and not out.accepted:
        if out.brief is None:  # which says it otherwise
            yield f"not taken: {out.reason}"
    elif isinstance(out, SubmitOut):
        yield f"accepted.{ledger}"
    elif ledger:
        yield f"against the original:{ledger}"


def _state_lines(out: RunAnswer) -> Iterator[str]:
    reason = f" ({out.stop_reason})" if out.stop_reason and out.brief is None else ""
    state = f"status: {out.status}{reason}"
    if out.stop_reason == "rules_met":
        state += "; rules met, nobody judged the meaning"
    elif out.brief is None:
        state += f"   passed: {_yes(out.passed)}   judged by: {out.judged_by}"
    yield f"{state}   versions: {out.iterations + 1}"
    if out.brief is None:
        yield f"run_id: {out.run_id}   thought_id: {out.thought_id}   history: run://{out.run_id}"
    if out.usage.model_calls:
        yield f"usage: {usage(out.usage)}"


def _text_lines(out: RunAnswer, *, is_linked: bool) -> Iterator[str]:
    """The text, its changes, or where it is."""
    again = f"resume_run(run_id={out.run_id!r}, return='text')"
    if out.text is not None and not is_linked:
        yield "text, between marks that are no part of it:"
        yield out.text.framed("text")
    elif out.unchanged:
        yield "text: as you have it" + ("" if isinstance(out, SubmitOut) else f"; again by {again}")
    elif out.diff and out.text is None:
        yield f"text: as it was given, with these changes; whole by {again}"
        yield "each change is in the place of words that occur once; marks are no part of them:"
        yield frame("changes", "\n".join(map(_exact_change, out.diff)))
    elif is_linked:
        yield f"text: {out.text_uri}, or by {again}"
    else:
        yield f"text: not asked for; by {again}"


def _exact_change(hunk: HunkOut) -> str:
    before, after = (json.dumps(w.raw, ensure_ascii=False) for w in (hunk.before, hunk.after))
    return f"{before} -> {after}  ({hunk.reason})"


def history(out: HistoryOut, *, as_data: bool = False) -> str:
    """The text of `get_thought_history`.

    Args:
        out: The answer.
        as_data: Whether texts are between marks, as for a model.
    """
    lines: list[str] = []
    if out.run is not None:
        run = out.run
        reason = f" ({run.stop_reason})" if run.stop_reason else ""
        lines.append(
            f"{run.run_id}: {run.status}{reason}, passed: {_yes(run.passed)}   "
            f"{run.created_at} .. {run.updated_at}"
        )
        lines += [f"task: {run.prompt:200}"] if run.prompt.raw else []
        lines += [f"champion: {run.champion_id}"] if run.champion_id != f"{run.run_id}.0" else []
        lines += [f"branch of {run.branch_of}"] if run.branch_of else []
        lines += [f"recovered: {line}" for line in run.recoveries]
        lines += [str(run.compared_with_original)] if run.compared_with_original else []
    for thought in out.thoughts or []:
        lines += ["", *_version_lines(thought)]
        if thought.text is not None:
            lines.append(thought.text.framed("text") if as_data else thought.text.raw)
    for line in out.runs or []:
        lines.append(
            f"{line.run_id}  {line.updated_at:.16}  passed: {_yes(line.passed)}  {line.excerpt:80}"
            f"  {line.status} ({line.stop_reason or 'at work'}), versions: {line.iterations + 1}"
        )
    if out.hits is not None:
        lines.append(f"search: {out.search}")
        lines += [f"{hit.thought_id}  {hit.created_at:.16}  {hit.snippet}" for hit in out.hits]
    if not any((out.run, out.runs, out.hits)):
        lines.append("nothing found")
    lines += _section("degraded", degraded_lines(out.degraded))
    return "\n".join([*lines, *_more_lines(out.next_cursor)])


def _more_lines(cursor: str | None) -> list[str]:
    return [f"more: cursor={cursor!r}"] if cursor else []


def usage(spent: UsageOut) -> str:
    """The usage, in one line."""
    cost = "unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    return (
        f"{spent.model_calls} model calls, {spent.input_tokens} + {spent.output_tokens} tokens, "
        f"cost {cost}, {spent.seconds:g} s"
    )


def _difference_line(each: DifferenceOut) -> str:
    answer = f"{each.status} by {each.by}" if each.by else each.status
    why = f" because {each.reason:80}" if each.reason else ""
    return f"{each.kind} {each.before:80} -> {each.after:80}: {answer}{why}"


def _version_lines(thought: ThoughtOut) -> Iterator[str]:
    """A version of a run: what became of it, its verdicts and its changes."""
    fate = {True: "accepted", False: "rejected", None: "not compared"}[thought.accepted]
    yield f"version {thought.iteration} ({thought.thought_id}) by {thought.author}: {fate}"
    if thought.reason and thought.iteration:  # there is one first version, and no choice
        yield f"  {thought.reason}"
    yield from [f"  kept as it is: {thought.declined}"] if thought.declined else []
    yield from (f"  {line}" for line in verdict_lines(thought.validation_results))
    yield from (f"  {_difference_line(each)}" for each in thought.differences)
    yield from (f"  {line}" for each in thought.critic_feedback for line in _critique_lines(each))
    yield from (f"  {line}" for line in _change_lines(thought.diff, _MOST))


def _critique_lines(critique: CritiqueOut, *, with_scores: bool = False) -> Iterator[str]:
    """What a critic said: its verdict, its suggestions, and what else it has put on record."""
    scores = critique.scores.items() if with_scores else ()
    listed = ", ".join(f"{Remark(aspect)} {score:.2f}" for aspect, score in scores)
    verdict = critique.verdict or critique.reason or "no verdict"
    yield f"{critique.critic}: {verdict}" + (f" ({listed})" if listed else "")
    yield from (f"  - {suggestion}" for suggestion in critique.suggestions[:_MOST])
    if critique.reflection:
        yield f"  lesson: {critique.reflection}"
    if critique.details:
        yield f"  details: {Remark(json.dumps(critique.details, ensure_ascii=False)):300}"


def verdict_lines(results: Iterable[ValidationOut], *, issues: bool = True) -> Iterator[str]:
    """A line for each verdict, and below one that fails what to do, and its issues if wanted."""
    for result in results:
        mark = "pass" if result.passed else "FAIL" if result.required else "fail (advice)"
        mark = "not checked" if result.unchecked else mark
        yield f"{mark}  {result.validator}: {result.message} (score {result.score:.2f})"
        if result.passed:
            continue
        yield from (f"      {line}" for line in issue_lines(result.issues if issues else ()))
        yield from (f"      -> {suggestion}" for suggestion in result.suggestions)


def issue_lines(issues: Sequence[IssueOut]) -> Iterator[str]:
    """A line for each issue: its place and words, what is wrong, its fix."""
    return _truncate(map(_issue_line, issues), len(issues))


def _issue_line(issue: IssueOut) -> str:
    position = f"[{issue.start}:{issue.end}] " if issue.start is not None else ""
    quote = f"{issue.quote:80}: " if issue.quote else ""
    fix = "" if issue.fix is None else f" -> {issue.fix:80}"
    support = f", reported by {issue.support}" if issue.support > 1 else ""
    places = f", at {len(issue.places)} places" if issue.places else ""
    about = f"{issue.category}, severity {issue.severity}{support}{places}"
    return f"{position}{quote}{issue.message}{fix} ({about})"


def _truncate(lines: Iterable[str], count: int, most: int = _MOST) -> Iterator[str]:
    """The first of so many lines, and how many more there are."""
    yield from islice(lines, most)
    if count > most:
        yield f"... and {count - most} more"


def unchecked_lines(checks: Iterable[CheckOut]) -> Iterator[str]:
    """A line for each thing that was not checked, or in part alone."""
    for check in checks:
        # That nobody judged the meaning is part of the status.
        if check.what.raw != "meaning" and (not check.done or check.reason):
            part = " in part" if check.done else ""
            yield f"{check.what}{part}: {check.reason or 'no verdict'}"


def turned_down_lines(out: RunAnswer) -> list[str]:
    """The versions that were not kept; said plainly when that is all of them."""
    title = "rejected" if out.changed else "every version was rejected"
    return _section(
        title, [f"version {d.version} by {d.author}: {d.reason}" for d in out.turned_down]
    )


def _change_lines(hunks: Sequence[HunkOut], most: int) -> Iterator[str]:
    return _truncate(
        (f"- {h.before:80} -> {h.after:80}{because(h.reason.raw)}" for h in hunks), len(hunks), most
    )


def degraded_lines(degraded: Sequence[Remark]) -> Iterator[str]:
    """A line for each thing that failed or fell back."""
    return _truncate((f"- {line}" for line in degraded), len(degraded))


def _brief_lines(brief: BriefOut | None) -> Iterator[str]:
    if brief is None:
        return
    yield from ("", f"brief: {brief.instructions}")
    yield from (f"  sheet: {line}" for line in brief.sheet)
    yield from (f"  learned in a similar run: {line}" for line in brief.lessons)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _research_section(out: ResearchedOut) -> Iterator[str]:
    yield from research_lines(out)
    references = (
        f"[{each.n}] {each.title:120} {each.url or each.id}".rstrip() for each in out.references
    )
    yield from _section("references", _truncate(references, len(out.references), _MOST_REFERENCES))


def research_lines(out: ResearchedOut) -> Iterator[str]:
    """The mode and the sections of a research."""
    stops = f"   stopped by: {', '.join(map(str, out.stop_reasons))}" if out.stop_reasons else ""
    yield f"research: {out.mode}{'   partial: yes' if out.partial else ''}{stops}"
    for number, each in enumerate(out.sections, 1):
        error = f": {each.error}" if each.error else ""
        rounds = f" after {each.iterations} iterations" if each.iterations else ""
        yield f"  {number}. {each.title:80}: {each.status}{rounds}{error}"
