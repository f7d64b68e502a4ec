"""A prompt: the instructions for one kind of question."""

from dataclasses import dataclass

from sifaka.models.framing import DATA_NOTICE

PROMPTS_VERSION = 2
"""Raised by a release that changes the words or the order of any prompt.

A run has it on record. A replay of a run with another version takes each answer by its place, since
the same question has other words now; a resume asks such questions again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The instructions for one kind of question; the question itself carries the material."""

    purpose: str
    """The use of the answer, in one sentence for people; no model is sent it."""
    task: str
    """The role of the model, and what it is asked for."""
    rules: tuple[str, ...]
    """The criteria, and last the form of the answer; one thought each."""
    example: str = ""
    """A sentence that shows one answer, where small models need it."""

    @property
    def text(self) -> str:
        """The instructions as they are sent: the same words for every question of this kind."""
        rules = "\n".join(f"- {rule}" for rule in self.rules)
        return "\n\n".join(filter(None, (self.task, rules, self.example, DATA_NOTICE)))
