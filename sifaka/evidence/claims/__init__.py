"""Claims: what a text states as a fact, and what the evidence says about it."""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later

if TYPE_CHECKING:
    from sifaka.evidence.claims.checker import EvidenceChecker

__all__ = ["EvidenceChecker"]

__getattr__ = imported_later(__name__, {"EvidenceChecker": "sifaka.evidence.claims.checker"})
