"""What one part of the conformance run found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One closing line, and what led to it."""

    name: str
    passed: bool
    says: str
    """The figures, or what is wrong, on one line."""
    details: str = ""
    """What the program printed, for whoever has to find out why it failed."""

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'FAILED'}  {self.name}: {self.says}"
