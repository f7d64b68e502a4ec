"""Votes of a judge, and the rules by which further ones are not needed."""

from typing import Protocol

from sifaka._internal.immutable import Frozen

LONGEST = 3
"""Repeats at most, for each by which one text has to lead."""


class Votes(Frozen):
    """The outcome of the repeats of a comparison."""

    candidate: int = 0
    champion: int = 0
    undecided: int = 0
    """Repeats whose two orders disagree, see no difference, or got no answer."""
    unanswered: int = 0
    """Those of `undecided` that got no answer in at least one order."""
    broke_off: str | None = None
    """The reason that further repeats were not made, although the outcome is not clear."""

    @property
    def repeats(self) -> int:
        """The number of comparisons of the two."""
        return self.candidate + self.champion + self.undecided

    @property
    def lead(self) -> int:
        """Repeats that prefer the candidate, less those that prefer the champion."""
        return self.candidate - self.champion

    def __add__(self, other: "Votes") -> "Votes":
        return Votes(
            candidate=self.candidate + other.candidate,
            champion=self.champion + other.champion,
            undecided=self.undecided + other.undecided,
            unanswered=self.unanswered + other.unanswered,
        )

    def majority_for_champion(self) -> bool:
        """True when more than half of all repeats prefer the champion."""
        return self.champion * 2 > self.repeats


class VoteRule(Protocol):
    """Says how many repeats a comparison still needs."""

    def missing(self, votes: Votes) -> int:
        """The repeats to make next, at the same time; 0 when the outcome is clear."""
        ...


class Fixed(Frozen):
    """So many repeats, all at once."""

    repeats: int

    def missing(self, votes: Votes) -> int:
        """See `VoteRule`."""
        return self.repeats - votes.repeats


class Majority(Frozen):
    """The candidate needs more than half of the repeats; none is made that cannot change that.

    Curtailed sampling (Wald 1947, Sequential Analysis): the decision is that of all repeats.
    """

    repeats: int

    def missing(self, votes: Votes) -> int:
        """See `VoteRule`."""
        needed = self.repeats // 2 + 1 - votes.candidate
        left = self.repeats - votes.repeats
        return needed if 0 < needed <= left else 0


class Lead(Frozen):
    """One text has to lead by so many repeats, and at most `LONGEST` times as many are made.

    Wald's sequential probability ratio test (1945, doi 10.1214/aoms/1177731118) of "a decisive
    repeat is right with probability J" against 1 - J: each decisive repeat multiplies the odds by
    J / (1 - J) or divides them by it, so the odds depend on the lead alone, and a lead of k leaves
    a risk of at most `1 / (1 + (J / (1 - J))^k)`.
    """

    by: int
    in_doubt: bool = False
    """True when the candidate wins without a clear lead; else the champion does."""

    def accepts(self, votes: Votes) -> bool:
        """True when the candidate wins."""
        return votes.lead > -self.by if self.in_doubt else votes.lead >= self.by

    def missing(self, votes: Votes) -> int:
        """See `VoteRule`. As many as a clear lead needs at least, so none is made in vain."""
        left = LONGEST * self.by - votes.repeats
        needed = self.by - abs(votes.lead)
        against = votes.lead if self.in_doubt else -votes.lead
        hopeless = left < self.by + against  # the side that has to show its lead cannot any more
        return 0 if hopeless or needed <= 0 else min(needed, left)
