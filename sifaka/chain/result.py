"""The result of a run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import cast

from sifaka._internal.immutable import Frozen
from sifaka.chain.acceptance import look_back_check
from sifaka.chain.brief import PYTHON, Brief, Door, brief_for
from sifaka.chain.findings import is_compared
from sifaka.chain.review import Check, Review, checks_of
from sifaka.record.clustering import cluster, still_open
from sifaka.record.diff import Hunk
from sifaka.record.entries import RunStatus, StopReason
from sifaka.record.outcome import RESEARCH, open_task, research_details, shortcoming, shortfalls
from sifaka.record.provenance import explained_diff
from sifaka.record.results import Findings, Issue, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought
from sifaka.record.usage import Usage


class RunResult(Frozen):
    """A run as its caller sees it: the best version so far and what is said about exactly it."""

    run: Run
    warnings: tuple[str, ...] = ()
    """Reports of degraded safety, such as steps that the store has not taken."""

    @property
    def run_id(self) -> str:
        """The run's id, for the history and to go on with it."""
        return self.run.run_id

    @cached_property
    def thought(self) -> Thought:
        """The best version so far: the champion, or before the first decision what there is."""
        best = self.run.champion or self.run.latest
        return best or Thought(run_id=self.run.run_id, prompt=self.run.prompt)

    @cached_property
    def reported(self) -> Thought:
        """The version whose verdicts and findings are reported: the best one."""
        return self.thought

    @property
    def findings(self) -> Findings:
        """What was measured of the version against the input, with the answers."""
        return self.reported.findings

    @property
    def judged_by(self) -> str:
        """Who judged the best text: `nobody`, `caller`, `person`, or a model by name."""
        return self.run.judged_by

    @property
    def rules_met(self) -> bool:
        """True when the best text meets every required rule, and its task was not left undone."""
        best = self.thought
        undone = shortcoming(self.run.original, best) or open_task(self.run)
        return bool(best.text and best.passed and not best.findings.open) and not undone

    @property
    def text(self) -> str:
        """The best text so far."""
        return self.thought.text

    @property
    def iteration(self) -> int:
        """The number of the best version in the run; 0 is the first."""
        return self.thought.iteration

    @property
    def metadata(self) -> Mapping[str, object]:
        """The best version's metadata, and that version itself as `thought`."""
        return {**self.thought.metadata, "thought": self.thought}

    @property
    def changed(self) -> bool:
        """True when the best text differs from the input."""
        return self.run.original is not None and self.text != self.run.original.text

    @property
    def passed(self) -> bool:
        """True when the best text meets every required rule, and was judged; see `Run.passed`."""
        return self.run.passed

    @property
    def status(self) -> RunStatus:
        """The status of the run."""
        return self.run.status

    @property
    def stop_reason(self) -> StopReason | None:
        """The reason it stopped; None while it runs."""
        return self.run.stop_reason

    @property
    def error(self) -> str | None:
        """One line on what failed, or on why the caller has to write where a model was to."""
        return self.run.error

    @property
    def diff(self) -> tuple[Hunk, ...]:
        """The changes from version 0 to the best text, each with the issue that asked for it."""
        return explained_diff(self.run, self.thought)

    @property
    def changes(self) -> tuple[Hunk, ...]:
        """The hunks of `diff` that change something."""
        return tuple(hunk for hunk in self.diff if hunk.op != "equal")

    @property
    def left(self) -> tuple[Issue, ...]:
        """The issues of the best text that are not dealt with.

        They are those of the validators it does not pass and those of its critics, but for what was
        declined. What several report counts once. A validator that fails without an
        issue counts as one. A claim that could not be verified is among them, each part that a
        researched report lacks, and, once the run has ended, what critics suggest to the author.
        """
        first = self.run.original
        lines = shortfalls(first) if first is not None and RESEARCH in first.metadata else ()
        lacking = [Issue(message=line, category="report", severity=4) for line in lines]
        failed = (r for r in self.thought.validation_results.values() if not r.passed)
        unmet = [
            result.issues
            or (
                Issue(
                    message=f"{result.validator}: {result.message}",
                    category="validator",
                    severity=5 if result.required else 3,
                ),
            )
            for result in failed
        ]
        if self.run.finished and (reason := open_task(self.run)):
            unmet.append((Issue(message=reason, category="task", severity=4, rule="task"),))
        if self.run.is_declined(self.thought):
            return cluster([lacking, *unmet])
        suggestions = [
            each for f in self.thought.critic_feedback if f.judges_task for each in f.suggestions
        ]
        notes = [Issue(message=each, category="suggestion", severity=1) for each in suggestions]
        return cluster([lacking, *unmet, *self._opinions, notes if self.run.finished else []])

    @property
    def declinable(self) -> tuple[Issue, ...]:
        """The issues among `left` that a person may decline: no failure of a validator is."""
        return () if self.run.is_declined(self.thought) else cluster(self._opinions)

    @property
    def _opinions(self) -> Sequence[Sequence[Issue]]:
        """The claims that could not be verified, and the issues of each critic."""
        results = self.thought.validation_results.values()
        passed = [result for result in results if result.passed and result.details]
        open_ = [each for r in passed for each in r.issues if each.rule == "unverified"]
        reported = [f.issues for f in self.thought.critic_feedback if f.status == "ok"]
        return still_open(self.run, self.thought, [open_, *reported])

    @property
    def checked(self) -> tuple[Check, ...]:
        """What was checked in the best text, and what was not, with the reason."""
        compared = self.thought.author != "input" and is_compared(self.run)
        by_caller = self.judged_by in {"caller", "person"}
        return (
            *((Check(what="differences from the input", done=True),) if compared else ()),
            *checks_of(self.thought, has_task=bool(self.run.prompt), judged=by_caller),
            *look_back_check(self.run),
        )

    @property
    def turned_down(self) -> tuple[Thought, ...]:
        """The versions that were written and not kept; `run.decisions` has the reason of each."""
        decisions = self.run.decisions
        written = (t for t in self.run.thoughts if t.author != "input" and t.id in decisions)
        return tuple(thought for thought in written if not decisions[thought.id].accepted)

    @property
    def usage(self) -> Usage:
        """Its usage."""
        return self.run.usage

    @property
    def validation_results(self) -> tuple[ValidationResult, ...]:
        """The verdicts on the version that is reported."""
        return tuple(self.reported.validation_results.values())

    @property
    def review(self) -> Review:
        """The feedback of the critics on the best text."""
        return Review(feedback=self.reported.critic_feedback, usage=Usage())

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues that the critics find in the version that is reported."""
        return self.review.issues

    @property
    def brief(self) -> Brief | None:
        """The brief for the next version, when the run waits for the caller."""
        return self.brief_at(PYTHON)

    def brief_at(self, door: Door) -> Brief | None:
        """The same, in the words of the place where it is read."""
        return brief_for(self.run, door) if self.status == "needs_revision" else None

    @property
    def research(self) -> Mapping[str, object]:
        """The details of the research that the text goes back to; empty where there was none."""
        return research_details(self.run.original)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The steps that failed or fell back, one line each."""
        return tuple(self._list_notes())

    def _list_notes(self) -> Iterator[str]:
        run, latest = self.run, self.run.latest
        yield from self.review.degraded
        # Where nobody reviews the input, the critics without an answer on the version that was
        # rejected last may be the reason that it is kept.
        if not self.reported.critic_feedback and latest is not None:
            yield from Review(feedback=latest.critic_feedback, usage=Usage()).degraded
        # What research could not find is missing in every version that was made of it.
        first = (run.original,) if self.research else ()
        versions = {t.id: t for t in (*first, self.thought) if t is not None}
        noted = [t.metadata.get("degraded", ()) for t in versions.values()]
        yield from dict.fromkeys(
            str(line) for each in noted for line in cast("tuple[object, ...]", each)
        )
        if run.config.model == EDITOR and run.prompt:
            yield "the task was ignored: the editor follows none; choose a model, or `caller`"
        answered = Counter(call.model for call in run.calls if call.fallback)
        for model, count in answered.items():
            yield f"{model} answered {count} calls in place of a model that failed"
        if run.facts != run.config.facts:
            for model in dict.fromkeys(call.model for call in run.calls if call.unable):
                yield (
                    f"{model} did not call the tool that it was shown, so facts that a version "
                    "loses are refused, as with facts=require; if it can, let its server pass "
                    "tools on"
                )
        yield from (recovery.error for recovery in run.recoveries)
        yield from self.usage.notes
        yield from self.warnings
        if self.error is not None:
            why = "the caller writes in place of a model that failed: "
            yield f"{why if self.status == 'needs_revision' else ''}{self.error}"

    def _repr_values(self) -> Mapping[str, object]:
        """The values that the `repr` shows."""
        return {
            "run_id": self.run_id,
            "status": self.status,
            "stop_reason": self.stop_reason,
            "passed": self.passed,
            "iterations": self.run.iterations,
            "changed": self.changed,
            "text": self.text,
        }
