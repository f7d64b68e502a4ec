"""Sifaka: check a text, criticise it, improve it in a bounded loop, and remember every version."""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later
from sifaka._internal.renamed import answer_imports

if TYPE_CHECKING:
    from sifaka.calls.host import Host
    from sifaka.chain import (
        Chain,
        Replay,
        Review,
        RunResult,
        Submission,
        create_pydantic_chain,
    )
    from sifaka.chain.version_comparison import Judge
    from sifaka.critics import (
        ConstitutionalCritic,
        Critic,
        EvidenceCritic,
        LintCritic,
        MetaRewardingCritic,
        NCriticsCritic,
        PromptCritic,
        ReflexionCritic,
        SelfConsistencyCritic,
        SelfRAGCritic,
        SelfRefineCritic,
        StyleCritic,
    )
    from sifaka.embeddings.protocol import Embedder
    from sifaka.errors import (
        AppendRefused,
        BudgetExceeded,
        ConfigurationError,
        CriticError,
        EmbeddingError,
        Fenced,
        MemoryLimitError,
        ModelProviderError,
        OperationTimeout,
        PluginError,
        SifakaError,
        SourceError,
        StaleRevision,
        StorageError,
        ThoughtNotFound,
        ValidationError,
        VersionConflict,
    )
    from sifaka.evidence.claims.checker import EvidenceChecker
    from sifaka.evidence.pipeline import EvidencePipeline
    from sifaka.evidence.search import EvidenceRetriever
    from sifaka.evidence.sources.catalogue import open_adapters
    from sifaka.evidence.sources.collection import Adapter, Adapters
    from sifaka.models import Generation, Model
    from sifaka.models.retrieval_augmented import RetrievalAugmentedModel
    from sifaka.plugins import Plugins
    from sifaka.record.claims import CheckOptions, ClaimChecker, ClaimReport
    from sifaka.record.diff import Hunk
    from sifaka.record.research_question import Inquiry
    from sifaka.record.results import CriticFeedback, Issue, ValidationResult
    from sifaka.record.run import ChainEvent, Run
    from sifaka.record.thought import Document, Thought, ThoughtReference, ToolCall
    from sifaka.record.usage import Budget, Usage
    from sifaka.research.protocol import Researcher
    from sifaka.retrievers import (
        CachedRetriever,
        InMemoryRetriever,
        MockRetriever,
        ThoughtRetriever,
    )
    from sifaka.retrievers.protocol import Retriever
    from sifaka.retry import RetryConfig, with_retry
    from sifaka.storage import (
        CachedCheckpointStorage,
        CachedStorage,
        FileStorage,
        MemoryStorage,
        MilvusStorage,
        RedisStorage,
        SQLiteStorage,
        open_store,
    )
    from sifaka.storage.protocol import ThoughtStore
    from sifaka.tasks import (
        ValidationReport,
        critique,
        improve,
        improve_sync,
        validate,
        verify,
    )
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
        Validator,
        max_words,
        min_words,
    )

_NAMES = {
    "sifaka.calls.host": "Host",
    "sifaka.chain": "Chain Replay Review RunResult Submission create_pydantic_chain",
    "sifaka.chain.version_comparison": "Judge",
    "sifaka.critics": (
        "ConstitutionalCritic Critic EvidenceCritic LintCritic MetaRewardingCritic NCriticsCritic "
        "PromptCritic ReflexionCritic SelfConsistencyCritic SelfRAGCritic SelfRefineCritic "
        "StyleCritic"
    ),
    "sifaka.embeddings.protocol": "Embedder",
    "sifaka.errors": (
        "AppendRefused BudgetExceeded ConfigurationError CriticError EmbeddingError Fenced "
        "MemoryLimitError ModelProviderError OperationTimeout PluginError SifakaError SourceError "
        "StaleRevision StorageError ThoughtNotFound ValidationError VersionConflict"
    ),
    "sifaka.evidence.claims.checker": "EvidenceChecker",
    "sifaka.evidence.pipeline": "EvidencePipeline",
    "sifaka.evidence.search": "EvidenceRetriever",
    "sifaka.evidence.sources.catalogue": "open_adapters",
    "sifaka.evidence.sources.collection": "Adapter Adapters",
    "sifaka.models": "Generation Model",
    "sifaka.models.retrieval_augmented": "RetrievalAugmentedModel",
    "sifaka.plugins": "Plugins",
    "sifaka.record.claims": "CheckOptions ClaimChecker ClaimReport",
    "sifaka.record.diff": "Hunk",
    "sifaka.record.research_question": "Inquiry",
    "sifaka.record.results": "CriticFeedback Issue ValidationResult",
    "sifaka.record.run": "ChainEvent Run",
    "sifaka.record.thought": "Document Thought ThoughtReference ToolCall",
    "sifaka.record.usage": "Budget Usage",
    "sifaka.research.protocol": "Researcher",
    "sifaka.retrievers": "CachedRetriever InMemoryRetriever MockRetriever ThoughtRetriever",
    "sifaka.retrievers.protocol": "Retriever",
    "sifaka.retry": "RetryConfig with_retry",
    "sifaka.storage": (
        "CachedCheckpointStorage CachedStorage FileStorage MemoryStorage MilvusStorage "
        "RedisStorage SQLiteStorage open_store"
    ),
    "sifaka.storage.protocol": "ThoughtStore",
    "sifaka.tasks": "ValidationReport critique improve improve_sync validate verify",
    "sifaka.validators": (
        "ClassifierValidator ContentValidator EvidenceValidator FormatValidator "
        "GuardrailsValidator LanguageValidator LengthValidator PreserveValidator "
        "ReadabilityValidator RegexValidator ReportValidator Validator max_words min_words"
    ),
}
"""The public names of each module, which is imported when one of them is first used."""

_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Adapter",
    "Adapters",
    "AppendRefused",
    "Budget",
    "BudgetExceeded",
    "CachedCheckpointStorage",
    "CachedRetriever",
    "CachedStorage",
    "Chain",
    "ChainEvent",
    "CheckOptions",
    "ClaimChecker",
    "ClaimReport",
    "ClassifierValidator",
    "ConfigurationError",
    "ConstitutionalCritic",
    "ContentValidator",
    "Critic",
    "CriticError",
    "CriticFeedback",
    "Document",
    "Embedder",
    "EmbeddingError",
    "EvidenceChecker",
    "EvidenceCritic",
    "EvidencePipeline",
    "EvidenceRetriever",
    "EvidenceValidator",
    "Fenced",
    "FileStorage",
    "FormatValidator",
    "Generation",
    "GuardrailsValidator",
    "Host",
    "Hunk",
    "InMemoryRetriever",
    "Inquiry",
    "Issue",
    "Judge",
    "LanguageValidator",
    "LengthValidator",
    "LintCritic",
    "MemoryLimitError",
    "MemoryStorage",
    "MetaRewardingCritic",
    "MilvusStorage",
    "MockRetriever",
    "Model",
    "ModelProviderError",
    "NCriticsCritic",
    "OperationTimeout",
    "PluginError",
    "Plugins",
    "PreserveValidator",
    "PromptCritic",
    "ReadabilityValidator",
    "RedisStorage",
    "ReflexionCritic",
    "RegexValidator",
    "Replay",
    "ReportValidator",
    "Researcher",
    "RetrievalAugmentedModel",
    "Retriever",
    "RetryConfig",
    "Review",
    "Run",
    "RunResult",
    "SQLiteStorage",
    "SelfConsistencyCritic",
    "SelfRAGCritic",
    "SelfRefineCritic",
    "SifakaError",
    "SourceError",
    "StaleRevision",
    "StorageError",
    "StyleCritic",
    "Submission",
    "Thought",
    "ThoughtNotFound",
    "ThoughtReference",
    "ThoughtRetriever",
    "ThoughtStore",
    "ToolCall",
    "Usage",
    "ValidationError",
    "ValidationReport",
    "ValidationResult",
    "Validator",
    "VersionConflict",
    "create_pydantic_chain",
    "critique",
    "improve",
    "improve_sync",
    "max_words",
    "min_words",
    "open_adapters",
    "open_store",
    "validate",
    "verify",
    "with_retry",
]

__getattr__ = imported_later(__name__, _PLACES)
answer_imports()


def __dir__() -> list[str]:
    return __all__
