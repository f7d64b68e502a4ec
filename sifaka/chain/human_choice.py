"""A person's choice on a run that has stopped: the version to keep, with which words and issues.

"Never worse" binds machines, not the owner of a text. So a person's version is kept because a
person chose it; its verdicts are on record like those of any other, and the reason names the rules
that it breaks. No model is asked.
"""

from typing import TYPE_CHECKING

from sifaka.chain.cancellation import append_outside, is_interrupted
from sifaka.chain.findings import by_person
from sifaka.chain.result import RunResult
from sifaka.errors import ConfigurationError, ThoughtNotFound
from sifaka.record.clustering import decline_of
from sifaka.record.entries import (
    Decided,
    Decision,
    Declined,
    Drafted,
    Entry,
    Stopped,
    Validated,
)
from sifaka.record.outcome import open_task
from sifaka.record.run import Run
from sifaka.record.thought import PERSON, Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.text.input import check_text
from sifaka.validators.execution import run_validators

if TYPE_CHECKING:
    from sifaka.chain.chain import Chain


async def choose_version(
    chain: "Chain", run_id: str, version_id: str, text: str = "", *, reason: str = ""
) -> RunResult:
    """Keep a version of a run, as it is or with other words, because a person chose it.

    The same choice made twice is stored once.

    Args:
        chain: The chain of the run.
        run_id: The run, which no process may be at work on.
        version_id: The version.
        text: The words in place of the version's; they become a version of author `person`.
        reason: The reason for declining what is left in it; nothing is declined without one.

    Raises:
        ThoughtNotFound: There is no such run or version.
        ConfigurationError: The run goes on, or a text is not usable.
        VersionConflict: Something else has happened to the run meanwhile.
    """
    check_text(text)
    check_text(reason, "reason")
    run, version = await _load_stopped(chain.store, run_id, version_id)
    wanted = (PERSON, version.id, text)
    same = [each for each in run.thoughts if (each.author, each.parent_id, each.text) == wanted]
    entries: list[Entry] = []
    if text and same:
        version = same[0]
    elif text and text != version.text:
        version, entries = await _write_version(chain, run, version, text)
    if version.id != run.champion_id:
        results = version.validation_results.items()
        broken = "; ".join(
            f"{name}: {result.message}" for name, result in results if not result.passed
        )
        note = f", although it breaks {broken}" if broken else ""
        decision = Decision(accepted=True, by="person", note=note)
        entries.append(Decided(thought_id=version.id, decision=decision))
    if reason and run.declined.get(version.id) != reason:
        entries.append(Declined(thought_id=version.id, reason=reason))
    if entries or run.status == "needs_revision":
        entries.append(Stopped(status="done", stop_reason="accepted"))
        run = await append_outside(chain.store, run, *entries)
    return RunResult(run=run, warnings=chain.store.degraded)


async def decline_issue(
    chain: "Chain", run_id: str, version_id: str, message: str, quote: str = "", *, reason: str
) -> RunResult:
    """Decline one issue of the champion, there and in what is made of it.

    A run that waits goes on waiting unless nothing is left. The same issue is declined once.

    Args:
        chain: The chain of the run.
        run_id: The run, which no process may be at work on.
        version_id: The champion.
        message: The message of the issue.
        quote: The words that the issue is about.
        reason: The reason, for the record.

    Raises:
        ThoughtNotFound: There is no such run or version.
        ConfigurationError: The run goes on or failed, another version is kept, no critic has such
            an issue, or there is no reason.
        VersionConflict: Something else has happened to the run meanwhile.
    """
    run, version = await _load_stopped(chain.store, run_id, version_id)
    result = RunResult(run=run, warnings=chain.store.degraded)
    if not check_text(reason, "reason").strip():
        raise ConfigurationError("an issue is declined for a reason", "give `reason`")
    if run.status == "failed" or version.id != run.champion_id:
        raise ConfigurationError(
            f"version {version_id!r} is not the current one, or its run failed",
            "choose the version first",
        )
    named = (*result.declinable, *(i for f in version.critic_feedback for i in f.issues))
    matches = [each for each in named if (each.message, each.quote) == (message, quote)]
    issue = next((each for each in matches if not decline_of(run, version, each)), None)
    if issue is None and matches:
        return result
    if issue is None or run.is_declined(version):
        raise ConfigurationError(
            f"no critic has left the issue {message!r}", "what a rule refuses cannot be declined"
        )
    entries: list[Entry] = [Declined(thought_id=version.id, reason=reason, issue=issue)]
    after = run.apply(entries[0])
    if RunResult(run=after).left or open_task(after):
        entries.append(
            Stopped(
                status=run.status,
                stop_reason=run.stop_reason or "accepted",
                error=run.error,
                code=run.error_code,
                retry_after=run.retry_after,
            )
        )
    else:
        entries.append(Declined(thought_id=version.id, reason=reason))
        entries.append(Stopped(status="done", stop_reason="accepted"))
    run = await append_outside(chain.store, run, *entries)
    return RunResult(run=run, warnings=chain.store.degraded)


async def _load_stopped(store: ThoughtStore, run_id: str, version_id: str) -> tuple[Run, Thought]:
    """A run that no process is at work on, and one of its versions."""
    run = await store.load(run_id)
    if run.status == "running" or is_interrupted(run):
        raise ConfigurationError(
            f"run {run_id!r} goes on, and may still find a better version", "cancel it first"
        )
    version = next((each for each in run.thoughts if each.id == version_id), None)
    if version is None:
        raise ThoughtNotFound(version_id)
    return run, version


async def _write_version(
    chain: "Chain", run: Run, version: Thought, text: str
) -> tuple[Thought, list[Entry]]:
    """A person's version, and its entries up to the verdicts of the rules that ask no model."""
    draft = version.next_iteration(iteration=len(run.thoughts)).with_text(
        text, author=PERSON, history=(), metadata={}
    )
    local = [
        each for each in chain.resources.validators if not (each.claim_checks or each.calls(text))
    ]
    results = await run_validators(local, draft, run.original.text if run.original else None)
    findings = await by_person(run, draft)
    validated = Validated(thought_id=draft.id, results=results, findings=findings)
    judged = draft.model_copy(update={"validation_results": results})
    return judged, [Drafted(thought=draft), validated]
