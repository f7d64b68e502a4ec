"""Sifaka: check a text, criticise it, improve it in a bounded loop, and remember every version."""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later
from sifaka.chain import Chain, RunResult, create_pydantic_chain
from sifaka.critics import (
    ConstitutionalCritic,
    EvidenceCritic,
    LintCritic,
    MetaRewardingCritic,
    NCriticsCritic,
    PromptCritic,
    ReflexionCritic,
    SelfConsistencyCritic,
    SelfRAGCritic,
    SelfRefineCritic,
)
from sifaka.record.events import ChainEvent
from sifaka.record.inquiry import Inquiry
from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.thought import Document, Thought, ThoughtReference, ToolCall
from sifaka.record.usage import Budget
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.tasks import improve, improve_sync
from sifaka.validators import (
    ClassifierValidator,
    ContentValidator,
    EvidenceValidator,
    FormatValidator,
    GuardrailsValidator,
    LanguageValidator,
    LengthValidator,
    PreserveValidator,
    ReadabilityValidator,
    RegexValidator,
    ReportValidator,
)

if TYPE_CHECKING:
    from sifaka.evidence.claims import EvidenceChecker
    from sifaka.evidence.pipeline import EvidencePipeline
    from sifaka.evidence.retriever import EvidenceRetriever
    from sifaka.evidence.sources.catalogue import open_adapters
    from sifaka.evidence.sources.collection import Adapters
    from sifaka.models.retrieval_augmented import RetrievalAugmentedModel
    from sifaka.retrievers import (
        CachedRetriever,
        InMemoryRetriever,
        MockRetriever,
        ThoughtRetriever,
    )
    from sifaka.storage import (
        CachedCheckpointStorage,
        CachedStorage,
        FileStorage,
        MilvusStorage,
        RedisStorage,
    )

_LATER = {
    "Adapters": "sifaka.evidence.sources.collection",
    "CachedCheckpointStorage": "sifaka.storage",
    "CachedRetriever": "sifaka.retrievers",
    "CachedStorage": "sifaka.storage",
    "EvidenceChecker": "sifaka.evidence.claims",
    "EvidencePipeline": "sifaka.evidence.pipeline",
    "EvidenceRetriever": "sifaka.evidence.retriever",
    "FileStorage": "sifaka.storage",
    "InMemoryRetriever": "sifaka.retrievers",
    "MilvusStorage": "sifaka.storage",
    "MockRetriever": "sifaka.retrievers",
    "RedisStorage": "sifaka.storage",
    "RetrievalAugmentedModel": "sifaka.models.retrieval_augmented",
    "ThoughtRetriever": "sifaka.retrievers",
    "open_adapters": "sifaka.evidence.sources.catalogue",
}
"""Imported when they are first asked for."""

__all__ = [
    "Adapters",
    "Budget",
    "CachedCheckpointStorage",
    "CachedRetriever",
    "CachedStorage",
    "Chain",
    "ChainEvent",
    "ClassifierValidator",
    "ConstitutionalCritic",
    "ContentValidator",
    "CriticFeedback",
    "Document",
    "EvidenceChecker",
    "EvidenceCritic",
    "EvidencePipeline",
    "EvidenceRetriever",
    "EvidenceValidator",
    "FileStorage",
    "FormatValidator",
    "GuardrailsValidator",
    "InMemoryRetriever",
    "Inquiry",
    "Issue",
    "LanguageValidator",
    "LengthValidator",
    "LintCritic",
    "MemoryStorage",
    "MetaRewardingCritic",
    "MilvusStorage",
    "MockRetriever",
    "NCriticsCritic",
    "PreserveValidator",
    "PromptCritic",
    "ReadabilityValidator",
    "RedisStorage",
    "ReflexionCritic",
    "RegexValidator",
    "ReportValidator",
    "RetrievalAugmentedModel",
    "RunResult",
    "SQLiteStorage",
    "SelfConsistencyCritic",
    "SelfRAGCritic",
    "SelfRefineCritic",
    "Thought",
    "ThoughtReference",
    "ThoughtRetriever",
    "ToolCall",
    "ValidationResult",
    "create_pydantic_chain",
    "improve",
    "improve_sync",
    "open_adapters",
]

__getattr__ = imported_later(__name__, _LATER)
