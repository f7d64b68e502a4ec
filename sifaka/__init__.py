"""Sifaka: check a text, criticise it, improve it in a bounded loop, and remember every version."""

from sifaka.budget import Budget
from sifaka.chain import Chain, RunResult, create_pydantic_chain
from sifaka.critics import (
    ConstitutionalCritic,
    LintCritic,
    MetaRewardingCritic,
    NCriticsCritic,
    PromptCritic,
    ReflexionCritic,
    SelfConsistencyCritic,
    SelfRAGCritic,
    SelfRefineCritic,
)
from sifaka.events import ChainEvent
from sifaka.improve import improve, improve_sync
from sifaka.results import CriticFeedback, Issue, ValidationResult
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.thought import Document, Thought, ThoughtReference, ToolCall
from sifaka.validators import (
    ClassifierValidator,
    ContentValidator,
    FormatValidator,
    GuardrailsValidator,
    LanguageValidator,
    LengthValidator,
    PreserveValidator,
    ReadabilityValidator,
    RegexValidator,
)

__all__ = [
    "Budget",
    "Chain",
    "ChainEvent",
    "ClassifierValidator",
    "ConstitutionalCritic",
    "ContentValidator",
    "CriticFeedback",
    "Document",
    "FormatValidator",
    "GuardrailsValidator",
    "Issue",
    "LanguageValidator",
    "LengthValidator",
    "LintCritic",
    "MemoryStorage",
    "MetaRewardingCritic",
    "NCriticsCritic",
    "PreserveValidator",
    "PromptCritic",
    "ReadabilityValidator",
    "ReflexionCritic",
    "RegexValidator",
    "RunResult",
    "SQLiteStorage",
    "SelfConsistencyCritic",
    "SelfRAGCritic",
    "SelfRefineCritic",
    "Thought",
    "ThoughtReference",
    "ToolCall",
    "ValidationResult",
    "create_pydantic_chain",
    "improve",
    "improve_sync",
]
