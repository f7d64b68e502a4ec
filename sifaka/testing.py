"""Doubles for tests of chains and servers: a model and critics whose every word is written down."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sifaka.chain.version_comparison import Preference
from sifaka.errors import SifakaError
from sifaka.models import Generation
from sifaka.record.results import CriticFeedback, Issue, Verdict
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage

Line = str | Generation | Exception | Callable[[Thought], str]


@dataclass(kw_only=True)
class ScriptedModel:
    """A model that says its lines one after the other and then fails.

    A line is a text, a `Generation`, an exception to raise, or a function of the thought.
    """

    lines: Iterable[Line]
    name: str = "scripted"
    usage: Usage = field(default_factory=lambda: Usage(model_calls=1))
    seen: list[Thought] = field(default_factory=list[Thought])
    """The thoughts it was asked to improve, call by call."""

    def __post_init__(self) -> None:
        self._lines = iter(self.lines)

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next line of the script."""
        self.seen.append(thought)
        line = next(self._lines, None)
        if line is None:
            raise SifakaError("the script is over", "write more lines")
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Generation):
            return line
        text = line if isinstance(line, str) else line(thought)
        return Generation(text=text, prompt_used=thought.prompt, usage=self.usage)


@dataclass(kw_only=True)
class ScriptedCritic:
    """A critic that votes by a rule: it asks for a revision while `objects_to` says so."""

    objects_to: Callable[[str], bool]
    name: str = "scripted"
    suggestions: Sequence[str] = ()

    async def critique(self, thought: Thought) -> CriticFeedback:
        """Its vote, with one anchored issue over the whole text where it objects."""
        objects = self.objects_to(thought.text)
        verdict: Verdict = "revise" if objects else "accept"
        issue = Issue.at(thought.text, 0, len(thought.text), "not what was wanted")
        return CriticFeedback(
            critic=self.name,
            verdict=verdict,
            issues=(issue,) if objects else (),
            suggestions=tuple(self.suggestions) if objects else (),
        )


@dataclass(frozen=True, kw_only=True)
class ScriptedJudge:
    """A judge that prefers by a rule: a function of the first version and the second."""

    prefers: Callable[[str, str], Preference]
    name: str = "scripted"

    async def compare(self, first: Thought, second: Thought) -> Preference:
        """The preference of the rule between the two texts."""
        return self.prefers(first.text, second.text)
