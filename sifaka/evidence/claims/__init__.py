"""Claims: what a text states as a fact, and what the evidence says about it."""

from sifaka.evidence.claims.checker import EvidenceChecker

__all__ = ["EvidenceChecker"]
