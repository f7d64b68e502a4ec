"""The answers of the tools that only look at a text, on the wire."""

from typing import Literal

from pydantic import BaseModel

from sifaka_mcp.schemas.verdicts import CritiqueOut, IssueOut, UsageOut, ValidationOut


class ValidateOut(BaseModel):
    """Every validator's verdict on the text."""

    passed: bool
    results: list[ValidationOut]


class CritiqueTextOut(BaseModel):
    """What the critics say together and each."""

    verdict: Literal["accept", "revise", "undecided"]
    issues: list[IssueOut]
    critiques: list[CritiqueOut]
    rubric: list[str] | None = None
    usage: UsageOut
    degraded: list[str]
