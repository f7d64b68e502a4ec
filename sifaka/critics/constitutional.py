"""Constitutional AI: principles, each judged by itself, with what to do about what breaks it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, StringConstraints, ValidationError, ValidationInfo, model_validator

from sifaka._internal.explain import explain
from sifaka._internal.immutable import Frozen
from sifaka._internal.safe_open import read_beneath
from sifaka.critics.judge import REVIEWER, JudgingCritic
from sifaka.critics.opinion import LONGEST_REMARK, ask_all, case, no_answer
from sifaka.errors import ConfigurationError
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, Whole
from sifaka.record.results import QUOTE_LIMIT, CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.anchoring import anchor
from sifaka.validators.spec import Name

# --- principles ---

MOST_PRINCIPLES = 50
_MOST_BYTES = 1_000_000
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_REVISION = re.compile(r"^[*_]*revision[*_]*:[*_]*\s*", re.IGNORECASE)


_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Principle(Frozen):
    """One principle: a critique request and the revision request that belongs to it."""

    name: Annotated[_Words, Field(max_length=100)]
    critique: Annotated[_Words, Field(max_length=4_000)]
    """The critique request: what to look for in a text."""
    revision: Annotated[_Words, Field(max_length=4_000)]
    """The revision request: what to do about a text that violates the principle."""

    @classmethod
    def of_sentence(cls, sentence: str) -> Self:
        """The principle of a sentence such as `Name the day`."""
        return cls(
            name=sentence.strip()[:100],
            critique=f"Identify what does not keep to this principle: {sentence}",
            revision=f"Make it keep to this principle: {sentence}",
        )


BUILT_IN: tuple[Principle, ...] = (
    Principle(
        name="truthful",
        critique="Identify statements that are false, misleading or more certain than the text or "
        "its documents can show.",
        revision="Correct what is false, and say no more than is known.",
    ),
    Principle(
        name="on task",
        critique="Identify what the task asks for and the text does not give, and what the text "
        "gives and nobody asked for.",
        revision="Give all that the task asks for, and leave out the rest.",
    ),
    Principle(
        name="clear",
        critique="Identify sentences that its readers would have to read twice, and terms that "
        "they cannot know.",
        revision="Say it in plain words, one thought a sentence.",
    ),
    Principle(
        name="consistent",
        critique="Identify places where the text contradicts itself, in what it claims, in its "
        "numbers and names, or in what it calls things.",
        revision="Make the places agree.",
    ),
    Principle(
        name="harmless",
        critique="Identify passages that insult or demean people, disclose what is private, or "
        "help to do serious harm.",
        revision="Take out what does harm, and keep the rest.",
    ),
    Principle(
        name="fair",
        critique="Identify claims about people or groups that are generalised or one-sided, and "
        "disputed matters told as if they were settled.",
        revision="Be specific, and say where opinions differ.",
    ),
)
"""The principles when no constitution is given."""


def read_file(path: str) -> str:
    """The text of a constitution's file: the one place where a file is opened.

    Raises:
        ConfigurationError: It cannot be read, is too large, or is not UTF-8.
    """
    try:
        return read_beneath(Path(path), _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8", "save it as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{path}: cannot be read: {reason}") from error


def load_constitution(
    path: str, read: Callable[[str], str] = read_file, *, quotes: bool = True
) -> tuple[Principle, ...]:
    """The principles of a YAML or Markdown file.

    YAML is a list of mappings with `name`, `critique` and `revision`, or has one under
    `principles`. In Markdown each heading is a principle, what comes below it the critique
    request, and a paragraph that begins with `Revision:` the revision request.

    Args:
        path: Of the file; its name ends in .yaml, .yml or .md.
        read: Opens it.
        quotes: True when an error may quote the file: only when the reader of the error may read
            the file.

    Raises:
        ConfigurationError: The file or one of its principles cannot be used; names both.
    """
    suffix = Path(path).suffix.casefold()
    if suffix not in {".yaml", ".yml", ".md"}:
        raise ConfigurationError(f"{path}: not a constitution", "use a .yaml, .yml or .md file")
    content = read(path)
    entries = _read_markdown(content) if suffix == ".md" else _read_yaml(content, path)
    principles = tuple(
        _parse_entry(each, path, number, quotes=quotes) for number, each in enumerate(entries, 1)
    )
    if problem := problem_of(principles, quotes=quotes):
        raise ConfigurationError(f"{path}: {problem}", "see the documentation of `constitutional`")
    return principles


def problem_of(principles: Sequence[Principle], *, quotes: bool = True) -> str | None:
    """The reason that these are no constitution, in a few words; None when they are one."""
    if not principles:
        return "there is no principle in it"
    if len(principles) > MOST_PRINCIPLES:
        return f"{len(principles)} principles, at most {MOST_PRINCIPLES} are allowed"
    names = [principle.name.casefold().strip() for principle in principles]
    twice = next((at for at, name in enumerate(names) if name in names[:at]), None)
    if twice is None:
        return None
    return f"principle {repr(principles[twice].name) if quotes else twice + 1} is there twice"


def version_of(principles: Sequence[Principle]) -> str:
    """The first 12 hexadecimal digits of SHA-256 over the principles, their order included."""
    canonical = [[each.name, each.critique, each.revision] for each in principles]
    return sha256(json.dumps(canonical, ensure_ascii=False).encode()).hexdigest()[:12]


def _parse_entry(data: object, path: str, number: int, *, quotes: bool) -> Principle:
    named = cast("dict[str, object]", data).get("name") if isinstance(data, dict) else None
    where = f"{path}: principle {number}"
    try:
        return Principle.model_validate(data)
    except ValidationError as error:
        if quotes:
            where += f" {str(named)[:60]!r}" if named else ""
            raise ConfigurationError(f"{where}: {explain(error)}") from error
        first = error.errors(include_url=False, include_input=False)[0]
        reason = f"should have {', '.join(Principle.model_fields)}, and nothing else"
        if first["loc"] and first["loc"][0] in Principle.model_fields:
            fault = "is missing" if first["type"] == "missing" else "cannot be used"
            reason = f"{first['loc'][0]}: {fault}"
        raise ConfigurationError(f"{where}: {reason}") from None


def _read_yaml(content: str, path: str) -> Iterable[object]:
    import yaml

    try:
        loaded: Any = yaml.safe_load(content)
    # Tags such as !!bool and !!timestamp on other words make the parser raise many errors.
    except (
        yaml.YAMLError,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
        RecursionError,
    ) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark is not None else ""
        raise ConfigurationError(f"{path}: not valid YAML{line}", "mend the file") from error
    if isinstance(loaded, dict):
        loaded = cast("dict[object, object]", loaded).get("principles")
    if not isinstance(loaded, list | None):
        raise ConfigurationError(
            f"{path}: not a list of principles", "list them, or put the list under `principles`"
        )
    return cast("list[object]", loaded or [])


def _read_markdown(content: str) -> Iterable[object]:
    headings = list(_HEADING.finditer(content))
    levels = [len(heading[0]) - len(heading[0].lstrip("#")) for heading in headings]
    # A first heading above all others is that of the document, not of a principle.
    first = int(len(levels) > 1 and levels[0] < min(levels[1:]))
    ends = [*(heading.start() for heading in headings[1:]), len(content)]
    for heading, end in list(zip(headings, ends, strict=False))[first:]:
        body = content[heading.end() : end].strip()
        paragraphs = [" ".join(each.split()) for each in re.split(r"\n[ \t]*\n", body)]
        revision = [_REVISION.sub("", each) for each in paragraphs if _REVISION.match(each)]
        critique = [each for each in paragraphs if each and not _REVISION.match(each)]
        requests = {"critique": "\n".join(critique), "revision": "\n".join(revision)}
        yield {"name": heading[1], **{name: words for name, words in requests.items() if words}}


# --- the critic ---

PROMPT = Prompt(
    purpose="Finds where a text breaks one principle of a constitution.",
    task=f"{REVIEWER} Judge it by the principle in `principle`, and by nothing else.",
    rules=(
        "Other reviewers look after everything else: do not report it.",
        "Report what breaks the principle once, however many places show it: copy each of these "
        "places exactly into `quotes`, and say in `message` what is wrong there.",
        "Then give the verdict: `revise` when the text breaks the principle, otherwise `accept`.",
    ),
)
_ASKED = "Does the text break the principle?"
_MOST_PLACES, _SHOWN = 6, 80
"""Places that one issue names, and the characters that it repeats of the later ones."""


class _Finding(Form):
    """Your finding about the principle."""

    quotes: list[str] = Field(
        default_factory=list[str], description="the places that break it; empty when none does"
    )
    message: str = Field(default="", description="what is wrong there, in one sentence")
    severity: Whole = Field(default=3, ge=1, le=5, description="1 taste ... 5 unusable")
    verdict: Literal["accept", "revise"]


class ConstitutionalCritic(JudgingCritic):
    """Judges the text by each principle of a constitution, and says what to do where one fired.

    Constitutional AI (Bai et al. 2022, arXiv 2212.08073): a principle binds what to look for to
    what to do about it; only principles that fired pass on their revision request. As many model
    calls as principles, depth one.
    """

    type: Literal["constitutional"] = "constitutional"
    name: Name = "constitutional"
    principles: tuple[Principle, ...] = ()
    """Inline, or those of the file, or the built-in ones."""
    file: str | None = Field(default=None, exclude=True)
    """A .yaml, .yml or .md file to take them from. It is read once and then forgotten."""
    version: str = ""
    """Of the principles; filled in."""
    draw: int | None = Field(default=None, ge=1)
    """Judge each version by so many principles, drawn by the run's id and the version's number;
    the paper draws one a round. None judges by all."""

    @model_validator(mode="before")
    @classmethod
    def _load_principles(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            return data
        options = dict(cast("Mapping[str, object]", data))
        path, inline = options.get("file"), options.get("principles")
        if path is not None and inline is not None:
            raise ValueError("give principles or a file, not both")
        if isinstance(path, str):
            context = cast("Mapping[str, Any]", info.context or {})
            read = cast("Callable[[str], str]", context.get("read_file", read_file))
            quotes = read is read_file
            options |= {"file": None, "principles": load_constitution(path, read, quotes=quotes)}
        elif inline is None:
            options["principles"] = BUILT_IN
        elif isinstance(inline, Sequence):
            # Not in a file: any list of words in one would be a constitution, and quoted.
            options["principles"] = [
                Principle.of_sentence(each) if isinstance(each, str) else each
                for each in cast("Sequence[object]", inline)
            ]
        return options

    @model_validator(mode="after")
    def _check_principles(self) -> Self:
        if problem := problem_of(self.principles):
            raise ValueError(f"principles: {problem}")
        if self.draw is not None and self.draw > len(self.principles):
            raise ValueError(f"draw: {self.draw} of {len(self.principles)} principles")
        version = version_of(self.principles)
        if self.version not in {"", version}:
            raise ValueError(f"version: {self.version!r} is not that of the principles")
        object.__setattr__(self, "version", version)
        return self

    def calls(self, text: str = "") -> int:
        """One for each principle."""
        return self.draw or len(self.principles)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The opinion of the principles that fired; see `Critic`.

        One whose call fails is on record in `degraded`. When that are half of them or more, there
        is no vote.
        """
        drawn = self._draw_principles(thought)
        replies = await ask_all({p.name: partial(self._judge, p, thought) for p in drawn})
        findings = replies.answers
        fired = [p for p in drawn if p.name in findings and findings[p.name].verdict == "revise"]
        if not fired and len(replies.failures) * 2 >= len(drawn):
            return no_answer(self.name, replies)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if fired else "accept",
            scores={"principles kept": round(1 - len(fired) / len(findings), 3)},
            issues=tuple(_issue(p, findings[p.name], thought.text) for p in fired),
            suggestions=tuple(each.revision for each in fired),
            details={
                "constitution": self.version,
                "drawn": [each.name for each in drawn],
                "fired": [each.name for each in fired],
            },
            degraded=replies.degraded,
            usage=replies.usage,
        )

    def _draw_principles(self, thought: Thought) -> tuple[Principle, ...]:
        def lot(principle: Principle) -> str:
            key = f"{thought.run_id}\n{thought.iteration}\n{principle.name}"
            return sha256(key.encode()).hexdigest()

        chosen = {each.name for each in sorted(self.principles, key=lot)[: self.draw]}
        return tuple(each for each in self.principles if each.name in chosen)

    async def _judge(self, principle: Principle, thought: Thought) -> tuple[_Finding, Usage]:
        material = case(thought, frame("principle", principle.critique, lasting=True))
        return await self._ask(PROMPT, f"{material}\n\n{_ASKED}", _Finding)


def _issue(principle: Principle, finding: _Finding, text: str) -> Issue:
    """The one issue about a broken principle: at its first place, naming the others."""
    spans = [span for quote in finding.quotes[:_MOST_PLACES] if (span := anchor(text, quote))]
    wrong = finding.message.strip()[:LONGEST_REMARK] or f"breaks the principle {principle.name!r}"
    others = ", ".join(repr(text[slice(*span)][:_SHOWN]) for span in spans[1:])
    start, end = spans[0] if spans else (None, None)
    return Issue(
        message=f"{wrong} Also in {others}." if others else wrong,
        quote=text[start:end][:QUOTE_LIMIT] if spans else "",
        start=start,
        end=end,
        severity=finding.severity,
        rule=principle.name,
    )
