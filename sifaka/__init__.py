"""Sifaka: check a text, criticise it, improve it in a bounded loop, and remember every version."""

from sifaka.budget import Budget
from sifaka.chain import Chain, RunResult, create_pydantic_chain
from sifaka.events import ChainEvent
from sifaka.improve import improve, improve_sync
from sifaka.results import CriticFeedback, Issue, ValidationResult
from sifaka.thought import Document, Thought, ThoughtReference, ToolCall

__all__ = [
    "Budget",
    "Chain",
    "ChainEvent",
    "CriticFeedback",
    "Document",
    "Issue",
    "RunResult",
    "Thought",
    "ThoughtReference",
    "ToolCall",
    "ValidationResult",
    "create_pydantic_chain",
    "improve",
    "improve_sync",
]
