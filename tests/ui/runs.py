"""Runs for the pages: their entries are written down, as a chain would have stored them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from sifaka.record.claims import Claim, ClaimEvidence, ClaimVerdict
from sifaka.record.entries import (
    ChainConfig,
    Critiqued,
    Decided,
    Decision,
    Drafted,
    Entry,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.storage.protocol import ThoughtStore

BEGIN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
ORIGINAL = """\
Release notes, version 4.2

We are very excited to announce that our world-class export feature is finally here. In order to \
utilize it, you need to have a Pro plan at this point in time.

The export was used by 40,000 teams in the beta. It is able to process files of up to 2 GB in \
size, and it is faster than anything else that is out there.

Due to the fact that older clients do not know the new format, they will see an error. Please \
update as soon as possible.
"""


def edited(text: str, *edits: tuple[str, str]) -> str:
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    return text


SECOND = edited(
    ORIGINAL,
    ("We are very excited to announce that our world-class export", "Export"),
    (" feature is finally here", " is here"),
    (
        "In order to utilize it, you need to have a Pro plan at this point in time.",
        "You need a Pro plan to use it.",
    ),
)
REFUSED = edited(SECOND, ("40,000 teams", "400,000 teams"))
FOURTH = edited(
    SECOND,
    ("It is able to process files of up to 2 GB in size", "It takes 2 GB files"),
    ("Due to the fact that older clients do not", "Older clients do not"),
    (" the new format, they will see an error", " the new format and fail"),
)


def usage(calls: int, seconds: float, cost: float) -> Usage:
    return Usage(
        model_calls=calls, input_tokens=640 * calls, output_tokens=180 * calls, cost_usd=cost,
        seconds=seconds,
    )  # fmt: skip


def issue(text: str, quote: str, message: str, **fields: object) -> Issue:
    start = text.index(quote)
    return Issue.at(text, start, start + len(quote), message, **fields)


def issues(text: str) -> Iterator[Issue]:
    """What a critic finds in a text of the release notes."""
    for quote, message, category, severity in (
        ("very excited to announce", "Say what is new, not how you feel.", "wordiness", 2),
        ("world-class", "A claim of rank without evidence.", "puffery", 4),
        ("In order to utilize", "`To use` says the same.", "wordiness", 2),
        ("at this point in time", "`Now`, or nothing.", "wordiness", 2),
        ("faster than anything else that is out there", "Name a measurement.", "puffery", 4),
        ("It is able to process files of up to 2 GB in size", "Wordy.", "clarity", 3),
        ("Due to the fact that", "`Because` says the same.", "wordiness", 3),
    ):
        if quote in text:
            yield issue(text, quote, message, category=category, severity=severity, rule=category)


def claims() -> dict[str, object]:
    told = ClaimVerdict(
        claim=Claim(text="40,000 teams used the export in the beta.", quote="40,000 teams"),
        verdict="supported",
        evidence=(
            ClaimEvidence(
                stance="supports",
                quote="At the end of the beta, 40,112 teams had exported at least one file.",
                title="Beta report",
                url="https://wiki.example/beta-report",
                adapter="wiki",
                published=BEGIN,
            ),
        ),
    )
    open_ = ClaimVerdict(
        claim=Claim(text="The export is faster than any other."),
        verdict="not_enough_info",
        reason="no source compares it with others",
    )
    return {"claims": [told.model_dump(mode="json"), open_.model_dump(mode="json")]}


def looked_at(thought: Thought, seconds: float = 2.4) -> list[Entry]:
    """The entries of a version's validators and critics."""
    text = thought.text
    found = tuple(issues(text))
    puffery = "world-class" in text
    words = len(text.split())
    facts = "400,000" not in text
    return [
        Validated(
            thought_id=thought.id,
            results={
                "length": ValidationResult(
                    validator="length", passed=words <= 80, score=min(1.0, 80 / words),
                    message=f"{words} words, at most 80 are allowed",
                    suggestions=() if words <= 80 else (f"cut {words - 80} words",),
                ),
                "content": ValidationResult(
                    validator="content", passed=not puffery, score=0.5 if puffery else 1.0,
                    message="'world-class' is not allowed" if puffery else "no prohibited term",
                ),
                "facts": ValidationResult(
                    validator="facts", passed=facts, score=1.0 if facts else 0.4,
                    message="every fact of the input" if facts else "40,000 became 400,000",
                ),
                "evidence": ValidationResult(
                    validator="evidence", passed=True, required=False, details=claims(),
                    message="1 of 2 claims supported",
                ),
            },
            usage=usage(2, seconds / 2, 0.0008),
        ),
        Critiqued(
            thought_id=thought.id,
            feedback=(
                CriticFeedback(
                    critic="lint", verdict="revise" if found else "accept", judges_task=False,
                    issues=found, usage=Usage(seconds=0.02),
                ),
                CriticFeedback(
                    critic="self_refine", verdict="revise" if len(found) > 1 else "accept",
                    scores={"clarity": 1 - 0.1 * len(found), "tone": 1 - 0.08 * len(found)},
                    suggestions=("Say what the reader has to do.",) if found else (),
                    usage=usage(1, seconds, 0.0012),
                ),
                CriticFeedback.abstain(
                    "reflexion", "the provider did not answer within 3 s", usage(1, 3.0, 0.0)
                ),
            ),
            usage=usage(2, max(seconds, 3.0), 0.0012),
        ),
    ]  # fmt: skip


def entries(
    versions: Iterable[tuple[str, bool, str]], *, end: Stopped | None, run_id: str, prompt: str = ""
) -> list[Entry]:
    """The entries of a run: the text, the fate and its reason of each version."""
    told: list[Entry] = [
        Started(
            run_id=run_id, prompt=prompt, config=ChainConfig(model="openai:gpt-5"),
            tags=("release",), at=BEGIN,
        )
    ]  # fmt: skip
    best: Thought | None = None
    for number, (text, accepted, reason) in enumerate(versions):
        thought = Thought(
            run_id=run_id, iteration=number, text=text, prompt=prompt,
            parent_id=best.id if best else None,
            author="openai:gpt-5" if number else "input",
            usage=usage(1, 4.2, 0.0031) if number else Usage(),
            created_at=BEGIN + timedelta(seconds=9 * number),
        )  # fmt: skip
        told += [Drafted(thought=thought, usage=thought.usage), *looked_at(thought, 2 + number / 2)]
        told.append(
            Decided(thought_id=thought.id, decision=Decision(accepted=accepted, note=reason))
        )
        best = thought if accepted else best
    at = BEGIN
    for place, entry in enumerate(told):
        at += timedelta(seconds=2)
        told[place] = entry.model_copy(update={"at": at})
    return [*told, end.model_copy(update={"at": at})] if end else told


RELEASE = (
    (ORIGINAL, True, "the input"),
    (SECOND, True, "better in severity of the issues found: 10, version 0 has 20"),
    (
        REFUSED,
        False,
        "worse in required validators failed: 1, version 1 has 0; 40,000 became 400,000",
    ),
    (FOURTH, True, "better in severity of the issues found: 4, version 1 has 10"),
)
DONE = Stopped(status="done", stop_reason="issues_left")
WAITING = Stopped(status="needs_revision", stop_reason="awaiting_revision")


def release_notes(
    *, end: Stopped | None = DONE, run_id: str = "run_00000000release", versions: int = 4
) -> list[Entry]:
    """A run of four versions, of which one was turned down."""
    return entries(RELEASE[:versions], end=end, run_id=run_id)


def long_run(
    versions: int = 50, words: int = 20_000, run_id: str = "run_000000000000long"
) -> list[Entry]:
    """Many long versions, each with two hundred other words."""
    lines = [
        f"Paragraph {n} says what the others say in its own way. " * 2 for n in range(words // 22)
    ]

    def text(number: int) -> str:
        told = list(lines)
        for place in range(number, len(told), max(1, len(told) // 200)):
            told[place] = told[place].replace("its own way", f"way number {number}")
        return "\n\n".join(told)

    return entries(
        ((text(n), n % 7 != 5, f"words changed: {n}") for n in range(versions)),
        end=DONE, run_id=run_id,
    )  # fmt: skip


MARKDOWN = """\
# The export, in *short*

Read `export --help` first, then the [guide](https://docs.example/export?a=1_2_3) or ![a picture](https://evil.test/x.png).

| Plan | Files | Size of one file |
|------|:-----:|-----------------:|
| Free | 10    | 20 MB            |
| Pro  |       | 2 GB, **each**   |

1. Open the ~~old~~ new page.
2. Choose a file:
   - any `snake_case_name` will do;
   - 5 * 3 * 2 of them at most.

   Then wait.

> What is quoted
> stays ***in one*** piece.

```python
def export(path: str) -> None:  # a_line_of_code_that_is_long_and_has_no_place_to_break
    ...
```

Details
-------

<b>HTML</b> and \\*stars\\* stay text.
"""


def many(run_id: str = "run_00000000000many") -> list[Entry]:
    """A run of eight versions and six rules, whose last version changes forty words of Markdown."""
    words = ("utilized", "facilitated", "commenced", "terminated")
    used = ("used", "helped", "begun", "ended")
    lines = [
        f"Item {n} was {words[n % 4]} by {1000 + n} teams, in the same way as any other."
        for n in range(40)
    ]
    versions: list[tuple[str, bool, str]] = []
    for number in range(8):
        until = 40 * number // 7
        told = [
            edited(each, (words[n % 4], used[n % 4])) if n < until else each
            for n, each in enumerate(lines)
        ]
        text = MARKDOWN + "\n" + "\n\n".join(" ".join(told[n : n + 4]) for n in range(0, 40, 4))
        versions.append((text, number not in {3, 5}, f"better in words: {until}, version 0 has 0"))
    told = entries(versions, end=WAITING, run_id=run_id)
    for place, entry in enumerate(told):
        if isinstance(entry, Validated):
            more = {
                name: ValidationResult(
                    validator=name,
                    passed=passed,
                    required=passed,
                    score=0.5,
                    message=9 * "a reason ",
                )
                for name, passed in (("the_rule_with_a_very_long_name", True), ("tone", False))
            }
            told[place] = entry.model_copy(update={"results": {**entry.results, **more}})
    return told


def hostile(payloads: Sequence[str], run_id: str) -> list[Entry]:
    """A run with a version for each payload, which stands in every place that others write."""
    told: list[Entry] = [Started(run_id=run_id, prompt=" ".join(payloads))]
    before = Thought(run_id=run_id, text=f"{payloads[0]}\nand more", author="input")
    told += _hostile(before, payloads[0])
    for number, payload in enumerate(payloads, 1):
        text = f"more\n{payload} again"
        before = Thought(
            run_id=run_id, iteration=number, text=text, parent_id=before.id, author=payload
        )
        told += _hostile(before, payload)
    error = " ".join(payloads)
    return [*told, Stopped(status="needs_revision", stop_reason="awaiting_revision", error=error)]


def _hostile(thought: Thought, payload: str) -> list[Entry]:
    about = {"category": payload[:60], "rule": payload, "fix": payload}
    issue = Issue.at(thought.text, 0, min(len(thought.text), 40), payload, **about)
    source = ClaimEvidence(
        stance="contradicts", quote=payload, title=payload, url=payload, adapter=payload
    )
    verdict = ClaimVerdict(
        claim=Claim(text=payload, quote=payload),
        verdict="mixed",
        reason=payload,
        evidence=(source,),
    )
    result = ValidationResult(
        validator=payload,
        passed=False,
        message=payload,
        suggestions=(payload,),
        issues=(issue,),
        details={"claims": [verdict.model_dump(mode="json")]},
    )
    feedback = CriticFeedback(
        critic=payload,
        verdict="revise",
        suggestions=(payload,),
        reason=payload,
        issues=(issue,),
        reflection=payload,
    )
    return [
        Drafted(thought=thought),
        Validated(thought_id=thought.id, results={payload: result}),
        Critiqued(thought_id=thought.id, feedback=(feedback,)),
        Decided(thought_id=thought.id, decision=Decision(accepted=True, note=payload)),
    ]


async def store(target: ThoughtStore, told: list[Entry]) -> Run:
    """Put a run into a store."""
    run = Run.replay(told)
    await target.append(run, told, expected_version=0)
    return run
